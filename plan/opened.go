package plan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/environ"
)

// Use says what the keys of a plan have of a backend beside what its block says.
type Use struct {
	Bare    bool `json:"bare,omitempty"`    // its identity, of commands that need no Python
	Python  bool `json:"python,omitempty"`  // its identity and interpreter
	Network bool `json:"network,omitempty"` // what commands with ports get
	Mounts  bool `json:"mounts,omitempty"`  // whose files its mounts are
	Sandbox bool `json:"sandbox,omitempty"` // the identity of its sandbox
	Server  bool `json:"server,omitempty"`  // the identity of its judge server
	// Dockerfile is that of the image that was made for it, an absolute path, and
	// Image what that came to; "" of a backend whose image is not made.
	Dockerfile string       `json:"dockerfile,omitempty"`
	Image      cache.Digest `json:"image,omitzero"`
}

// Answers are what a backend said about all that its Use names. Whatever is not
// in it is empty.
type Answers struct {
	Ingredients backend.Identity `json:"ingredients,omitempty"` // of its image
	Identity    backend.Identity `json:"identity,omitempty"`
	Version     string           `json:"version,omitempty"` // of the interpreter
	Platform    string           `json:"platform,omitempty"`
	Network     backend.Network  `json:"network,omitempty"`
	Elsewhere   string           `json:"elsewhere,omitempty"` // the machine of its mounts
}

// Opened is a backend that was made, and what is used of it.
type Opened struct {
	Block *lang.Backend // or one like it, for a problem that wants something otherwise
	Use   Use

	driver  Driver
	sandbox backend.Sandbox
	server  backend.JudgeServer
	image   graph.ID // of the node, when Use.Dockerfile is set

	// Who it is, and who it is to commands that need no Python: asked once.
	identify, bare func(context.Context) (backend.Identity, error)
}

// open makes a backend for the plan, or takes over one that was asked before.
func (c *compiler) open(b *lang.Backend, u Use) (*Opened, error) {
	var o *Opened
	if at := slices.IndexFunc(c.env.Reopened, func(o *Opened) bool { return o.serves(b, u) }); at >= 0 {
		same := *c.env.Reopened[at]
		same.Block, same.Use = b, u
		o = &same
	} else {
		var err error
		if o, err = Reopen(b, u, c.env); err != nil {
			return nil, err
		}
	}
	c.plan.opened = append(c.plan.opened, o)
	return o, nil
}

// serves reports whether a plan that makes a backend of b for u can do with o. Not
// where the image is made: the plan may make another one.
func (o *Opened) serves(b *lang.Backend, u Use) bool {
	return o.Use.Sandbox == u.Sandbox && o.Use.Server == u.Server && (b.Docker == nil || b.Docker.Build == nil) && reflect.DeepEqual(o.Block, b)
}

func (o *Opened) openDriver(env Environment) error {
	made, err := env.Backend(o.Block, environ.List(env.baseOf(o.Block)).Variables())
	if err != nil {
		return fmt.Errorf("backend %s: %w", o.Block.Addr(), err)
	}
	o.driver, o.identify = made, remember(made.Identity)
	o.bare = o.identify
	if b, ok := made.(bareIdentity); ok {
		o.bare = remember(b.BareIdentity)
	}
	return nil
}

// remember asks for an identity until it gets one: a failure may pass, and a
// retried node must be able to see that.
func remember(ask func(context.Context) (backend.Identity, error)) func(context.Context) (backend.Identity, error) {
	var mu sync.Mutex
	var known backend.Identity
	return func(ctx context.Context) (backend.Identity, error) {
		mu.Lock()
		defer mu.Unlock()
		if known != nil {
			return known, nil
		}
		identity, err := ask(ctx)
		if err == nil {
			known = identity
		}
		return identity, err
	}
}

// Opened are the backends that the plan uses, in order of their first use, after
// an execution that brought everything up to date.
func (p *Plan) Opened(r *graph.Report) []*Opened {
	for _, o := range p.opened {
		if o.Use.Dockerfile == "" {
			continue
		}
		for _, out := range r.Status(o.image).Outputs {
			if out.Name == tasks.ImageOutput {
				o.Use.Image = out.Digest
			}
		}
	}
	// What nobody asked anything is no part of any key.
	return slices.DeleteFunc(slices.Clone(p.opened), func(o *Opened) bool { return o.Use == Use{} })
}

// Reopen makes a backend as compiling did, for the same use.
func Reopen(b *lang.Backend, u Use, env Environment) (*Opened, error) {
	o := &Opened{Block: b, Use: u}
	var err error
	switch {
	case u.Sandbox:
		if o.sandbox, err = env.Sandbox(b); err == nil {
			o.identify = remember(o.sandbox.Identity)
		}
	case u.Server:
		if o.server, err = env.JudgeServer(b); err == nil {
			o.identify = remember(o.server.Identity)
		}
	default:
		err = o.openDriver(env)
	}
	return o, err
}

// errNoImage says that an image that was made is not there.
var errNoImage = errors.New("its image is no longer there")

// Answers asks the backend about all that is used of it.
func (o *Opened) Answers(ctx context.Context) (a Answers, err error) {
	if o.driver == nil {
		a.Identity, err = o.identify(ctx)
	} else {
		err = o.askDriver(ctx, &a)
	}
	if err != nil {
		return a, fmt.Errorf("asking backend %s: %w", o.Block.Addr(), err)
	}
	return a, nil
}

func (o *Opened) askDriver(ctx context.Context, a *Answers) (err error) {
	if o.Use.Mounts {
		if far, ok := o.driver.(distant); ok {
			a.Elsewhere = far.Elsewhere()
		}
	}
	if o.Use.Network {
		a.Network = o.driver.Network()
	}
	if !o.Use.Image.IsZero() { // it comes first: without it nothing else can be asked
		if a.Ingredients, err = o.askBuilder(ctx); err != nil {
			return err
		}
	}
	switch {
	case o.Use.Python:
		a.Identity, err = o.identify(ctx)
	case o.Use.Bare:
		a.Identity, err = o.bare(ctx)
	}
	if err != nil || !o.Use.Python {
		return err
	}
	if _, a.Version, err = o.driver.Interpreter(ctx); err != nil {
		return err
	}
	a.Platform, err = o.driver.Platform(ctx)
	return err
}

// askBuilder asks what the image depends on, and for the image.
func (o *Opened) askBuilder(ctx context.Context) (backend.Identity, error) {
	builder, ok := o.driver.(tasks.ImageBuilder)
	if !ok {
		return nil, errNoImage
	}
	text, err := os.ReadFile(o.Use.Dockerfile)
	if err != nil {
		return nil, fmt.Errorf("reading the Dockerfile: %w", err)
	}
	ingredients, err := builder.Ingredients(ctx, text)
	if err != nil {
		return nil, err
	}
	found, err := builder.Find(ctx, o.Use.Image)
	if err == nil && !found {
		err = errNoImage
	}
	return ingredients, err
}
