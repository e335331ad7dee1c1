package plan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// Use lists the facts about a backend in the keys of a plan, besides its block.
type Use struct {
	Bare    bool // its identity for commands that need no Python
	Python  bool // its identity and interpreter
	Network bool // the network of commands with ports
	Mounts  bool // whether keys contain the files of its mounts
	Judge   bool // the identity of its sandbox or judge server
	// Programs contains the words of commands that can be programs, separated by spaces.
	Programs string
	// Dockerfile is the absolute path of the Dockerfile of its image, and Image the image's ID; "" if the
	// image is not built.
	Dockerfile string
	Image      cache.Digest
}

// Fingerprint contains a backend's answers to the queries in its Use. Other fields are empty.
type Fingerprint struct {
	Ingredients backend.Identity // of its image
	Identity    backend.Identity
	Programs    backend.Identity
	Version     string // of the interpreter
	Platform    string
	Network     backend.Network
	RemoteHost  string // the machine of its mounts
}

// BackendHandle is an open backend and its use.
type BackendHandle struct {
	Block *lang.Backend // or a variant, for a problem with overrides
	Use   Use

	made  Executor
	env   []string // of its probes and of resolving requirements, KEY=value
	image graph.ID // of the node, if Use.Dockerfile is set

	// The identity, and the identity of commands that need no Python: queried once.
	identify, bare func(context.Context) (backend.Identity, error)
	asked          *sync.Map // maps words of commands, separated by spaces, to the programs that they name
}

// open creates a backend for the plan, or takes over a rehydrated one. u specifies whether it is for judge
// problems.
func (c *compiler) open(b *lang.Backend, u Use) (*BackendHandle, error) {
	var h *BackendHandle
	if at := slices.IndexFunc(c.env.Rehydrated, func(h *BackendHandle) bool { return h.serves(b, u) }); at >= 0 {
		same := *c.env.Rehydrated[at]
		same.Block, same.Use = b, u
		h = &same
	} else {
		var err error
		if h, err = Rehydrate(b, u, c.env); err != nil {
			return nil, err
		}
	}
	c.plan.handles = append(c.plan.handles, h)
	return h, nil
}

// serves reports whether a plan can use h for the block b and the use u. It returns false if the image is
// built, since the plan can build another one.
func (h *BackendHandle) serves(b *lang.Backend, u Use) bool {
	return h.Use.Judge == u.Judge && (b.Container == nil || b.Container.Build == nil) && reflect.DeepEqual(h.Block, b)
}

// failureKept is how long the failure of a backend's probe is cached: a probe takes up to seconds, and
// thousands of nodes can need the answer.
const failureKept = time.Second

// remember caches the result of ask, and failures for a while, since they can be temporary.
func remember(ask func(context.Context) (backend.Identity, error)) func(context.Context) (backend.Identity, error) {
	var mu sync.Mutex
	var known backend.Identity
	var failed error
	var when time.Time
	return func(ctx context.Context) (backend.Identity, error) {
		mu.Lock()
		defer mu.Unlock()
		if known != nil {
			return known, nil
		}
		if failed != nil && time.Since(when) < failureKept {
			return nil, failed
		}
		identity, err := ask(ctx)
		switch {
		case err == nil:
			known = identity
		case ctx.Err() == nil: // otherwise the caller was cancelled, and the backend's state is unknown
			failed, when = err, time.Now()
		}
		return identity, err
	}
}

// Backends returns the backends that the plan uses, in order of their first use, after an execution that
// brought everything up to date.
func (p *Plan) Backends(r *graph.Report) []*BackendHandle {
	for _, h := range p.handles {
		if h.Use.Dockerfile == "" {
			continue
		}
		if image, ok := r.Status(h.image).Output(tasks.ImageOutput); ok {
			h.Use.Image = image.Digest
		}
	}
	// A backend without uses is not part of keys.
	return slices.DeleteFunc(slices.Clone(p.handles), func(h *BackendHandle) bool { return h.Use == Use{} })
}

// Rehydrate creates a backend for the same use as when it was compiled.
func Rehydrate(b *lang.Backend, u Use, env Environment) (*BackendHandle, error) {
	h := &BackendHandle{Block: b, Use: u, asked: &sync.Map{}, env: session.Environment(env.baseOf(b)).Preparing()}
	var err error
	if h.made, err = env.Executor(b, h.env); err != nil {
		return nil, fmt.Errorf("backend %s: %w", b.Addr(), err)
	}
	if h.made.Backend != nil && h.made.Sandbox != nil { // only one of them is used
		if u.Judge {
			h.made.Backend = nil
		} else {
			h.made.Sandbox = nil
		}
	}
	switch m := h.made; {
	case m.Sandbox != nil:
		h.identify = remember(m.Sandbox.Identity)
	case m.Server != nil:
		h.identify = remember(m.Server.Identity)
	default:
		h.identify = remember(m.Backend.Identity)
		h.bare = h.identify
		if bare := m.Backend.Capabilities().BareIdentity; bare != nil {
			h.bare = remember(bare)
		}
	}
	return h, nil
}

// programs identifies the programs that words of commands name, and caches them.
func (h *BackendHandle) programs(ctx context.Context, words []string) (backend.Identity, error) {
	key := strings.Join(words, " ")
	if known, ok := h.asked.Load(key); ok {
		return known.(backend.Identity), nil
	}
	found, err := h.made.Backend.Capabilities().Programs(ctx, words)
	if err == nil {
		h.asked.Store(key, found)
	}
	return found, err
}

// errNoImage reports that a built image is missing.
var errNoImage = errors.New("its image no longer exists")

// Fingerprint queries the backend for everything in its Use.
func (h *BackendHandle) Fingerprint(ctx context.Context) (f Fingerprint, err error) {
	if h.made.Backend == nil {
		f.Identity, err = h.identify(ctx)
	} else {
		err = h.askBackend(ctx, &f)
	}
	if err != nil {
		return f, fmt.Errorf("querying backend %s: %w", h.Block.Addr(), err)
	}
	return f, nil
}

func (h *BackendHandle) askBackend(ctx context.Context, f *Fingerprint) (err error) {
	if h.Use.Mounts {
		f.RemoteHost = remoteHost(h.made.Backend)
	}
	if h.Use.Network {
		f.Network = h.made.Backend.Network()
	}
	if !h.Use.Image.IsZero() { // first: without it no other query works
		if f.Ingredients, err = h.askBuilder(ctx); err != nil {
			return err
		}
	}
	if h.Use.Programs != "" {
		if f.Programs, err = h.programs(ctx, strings.Fields(h.Use.Programs)); err != nil {
			return err
		}
	}
	switch {
	case h.Use.Python:
		f.Identity, err = h.identify(ctx)
	case h.Use.Bare:
		f.Identity, err = h.bare(ctx)
	}
	if err != nil || !h.Use.Python {
		return err
	}
	python := h.made.Backend.Capabilities().Python
	if _, f.Version, err = python.Interpreter(ctx); err != nil {
		return err
	}
	f.Platform, err = python.Platform(ctx)
	return err
}

// askBuilder queries the dependencies of the image, and the image. The context can lack the Dockerfile, so
// its text is one of the ingredients.
func (h *BackendHandle) askBuilder(ctx context.Context) (backend.Identity, error) {
	builder := h.made.Backend.Capabilities().Images
	if builder == nil {
		return nil, errNoImage
	}
	text, err := os.ReadFile(h.Use.Dockerfile)
	if err != nil {
		return nil, fmt.Errorf("reading the Dockerfile: %w", err)
	}
	ingredients, err := builder.Ingredients(ctx, text)
	if err != nil {
		return nil, err
	}
	found, err := builder.Find(ctx, h.Use.Image)
	if err == nil && !found {
		err = errNoImage
	}
	return append(ingredients, backend.Field{Label: "Dockerfile", Value: cache.SumBytes(text).String()}), err
}
