package remote

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// Options configures a Backend.
type Options struct {
	Client *reapi.Client
	Sender *cache.Sender // of the client
	Store  cache.Store   // source of inputs, and destination of the outputs of sandboxes
	// Name is the backend's address, for messages.
	Name string
	// Platform contains the properties by which the engine selects workers, sorted by name.
	Platform []Property
	// Host describes how machines are used. Its Run is set by New.
	Host wire.Host
	// Program is the file of fevalgraph for the workers' system, and Judge the file of go-judge; "" means no
	// sandbox.
	Program, Judge string
	Limits
	// Notice tells the user that the engine refuses actions, and that it accepts them again. It is called
	// under a lock, and can be nil.
	Notice func(text string)
	facts.Source
}

// Limits contains the limits on actions, and on waiting for an engine.
type Limits struct {
	// InFlight limits the actions at a time.
	InFlight int
	// MaxTimeout is the maximum timeout of an action that the engine accepts.
	MaxTimeout time.Duration
	// Patience limits how long a server can be unreachable, have no workers or refuse actions before work is
	// given up.
	Patience time.Duration
	// MaxState limits the bytes that one command leaves for the next.
	MaxState int64
}

// Property is a property of a platform.
type Property struct{ Name, Value string }

// Backend implements backend.Backend on an engine.
type Backend struct {
	opt   Options
	gate  *gate
	facts *facts.File
	files *files

	asking sync.Mutex // one caller at a time queries the machines

	confirmed atomic.Bool // a worker of this run had the known identity

	mu               sync.Mutex
	identityMismatch error                     // the known identity differs from the workers'
	opened           map[[sha256.Size]byte]int // number of sessions with equal specs
	snapshots        map[string]*snapshot
}

// New returns a backend. It queries and sends nothing before something runs.
func New(o Options) *Backend {
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	o.Host.Run = strings.ToLower(rand.Text())
	return &Backend{opt: o, gate: newGate(o.InFlight, o.Notice), facts: facts.Read(o.Facts, o.Place), files: &files{paths: map[string]cache.Digest{}},
		opened: map[[sha256.Size]byte]int{}, snapshots: map[string]*snapshot{}}
}

// Identity implements backend.Backend.
func (b *Backend) Identity(ctx context.Context) (backend.Identity, error) {
	return b.identity(ctx, facts.Identity)
}

// identity adds the properties that select workers to an identity.
func (b *Backend) identity(ctx context.Context, what string) (backend.Identity, error) {
	f, err := b.know(ctx, what)
	if err != nil {
		return nil, err
	}
	identity := slices.Clone(f.Identity)
	for _, p := range b.opt.Platform {
		identity = append(identity, backend.Field{Label: "property " + p.Name, Value: p.Value})
	}
	return identity, nil
}

// Network implements backend.Backend: workers keep the ports of commands apart.
func (b *Backend) Network() backend.Network { return backend.PrivateNetwork }

// Capabilities implements backend.Backend.
func (b *Backend) Capabilities() backend.Capabilities {
	return backend.Capabilities{
		Python: b, OwnFiles: true,
		BareIdentity: func(ctx context.Context) (backend.Identity, error) { return b.identity(ctx, facts.Bare) },
		Programs: func(ctx context.Context, words []string) (backend.Identity, error) {
			f, err := b.know(ctx, facts.Programs+strings.Join(words, " "))
			return f.Identity, err
		},
		Isolation: func() string {
			level, _ := b.facts.Get(facts.Isolation) // work has already run on a worker with this answer
			return level.Text
		},
		GPU: func(ctx context.Context) error {
			f, err := b.know(ctx, wire.GPU)
			if err == nil && f.Text != "" {
				err = &backend.AbsentError{Device: "GPU", Err: errors.New(f.Text)}
			}
			return err
		},
	}
}

// Interpreter implements backend.Python.
func (b *Backend) Interpreter(ctx context.Context) (path, version string, err error) {
	f, err := b.know(ctx, facts.Interpreter)
	return f.Path, f.Text, err
}

// Platform implements backend.Python.
func (b *Backend) Platform(ctx context.Context) (string, error) {
	f, err := b.know(ctx, facts.Platform)
	return f.Text, err
}

// asking limits how long a worker can take to report its identity, for which it runs commands.
const asking = 10 * time.Minute

// know answers a question about the workers from stored facts, or queries a worker.
func (b *Backend) know(ctx context.Context, what string) (facts.Fact, error) {
	if answer, ok := b.facts.Get(what); ok {
		return answer, nil
	}
	if b.opt.NotAsked != nil {
		return facts.Fact{}, b.opt.NotAsked
	}
	b.asking.Lock()
	defer b.asking.Unlock()
	if answer, ok := b.facts.Get(what); ok { // another caller queried them meanwhile
		return answer, nil
	}
	ask := []string{what}
	for _, always := range []string{facts.Isolation, wire.Place} {
		if _, ok := b.facts.Get(always); !ok && always != what {
			ask = append(ask, always)
		}
	}
	r, err := b.perform(ctx, &actionSpec{name: "querying a worker", limit: asking, task: wire.Task{Ask: ask}, judge: what == facts.Sandbox})
	if err != nil {
		return facts.Fact{}, fmt.Errorf("querying a worker of %s for its %s: %w", b.opt.Name, strings.TrimSpace(what), err)
	}
	if err := b.facts.Put(r.Facts); err != nil {
		return facts.Fact{}, err
	}
	return r.Facts[what], nil
}

// begin determines the facts that every session needs.
func (b *Backend) begin(ctx context.Context) error {
	_, err := b.know(ctx, wire.Place)
	return err
}

// idLength is the length of workspace names, short enough for paths of sockets in them.
const idLength = 10

// Open implements backend.Backend.
func (b *Backend) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	place, err := b.know(ctx, wire.Place)
	if err != nil {
		return nil, fmt.Errorf("opening a session: %w", err)
	}
	s := &session{b: b, name: spec.Name, id: b.sessionID(spec), readOnly: spec.ReadOnly, isolated: spec.Isolated}
	s.dir = place.Text + "/" + s.id + "/" + wire.Work
	if spec.Snapshot != "" {
		s.snapshot = spec.Snapshot
		if _, err := b.current(ctx, s.snapshot, nil); err != nil {
			return nil, fmt.Errorf("opening a session: %w", err)
		}
	}
	if err := s.Place(ctx, spec.Inputs...); err != nil {
		return nil, fmt.Errorf("opening a session: %w", err)
	}
	return s, nil
}

// sessionID returns an id for a session that is unique within the run.
func (b *Backend) sessionID(spec backend.Spec) string {
	sum := sha256.Sum256(wire.Encode([]any{b.opt.Host.Run, spec}))
	b.mu.Lock()
	b.opened[sum]++
	n := b.opened[sum]
	b.mu.Unlock()
	sum = sha256.Sum256(fmt.Appendf(sum[:], "%d", n))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:idLength])
}
