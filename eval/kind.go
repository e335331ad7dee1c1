package eval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// Kind is a kind of backend, as blocks of the configuration name it. Functions that
// are nil have nothing to do for the kind.
type Kind struct {
	Name string
	// New makes the backend of a block; env is the environment of its probes. What it
	// holds from one session to the next is closed with the site: see Site.OnClose.
	New func(s *Site, b *lang.Backend, env []string) (plan.Executor, error)
	// Asks are what of a block has a part in telling who the backend is and comes from
	// the project: commands, programs and images to run, servers to talk to; as texts that
	// a person can judge. A call that only reads asks the backend only if the project is
	// trusted with all of them.
	Asks func(b *lang.Backend) []string
	// Tools are variables, KEY=value, that lead tools to their files.
	Tools func(lookupEnv func(string) (string, bool)) []string
	// Environments is where commands see the Python environments that sessions
	// share; "" is a directory beside the store.
	Environments string
	// Reap returns a function that ends a session of the kind that a crashed run
	// did not end.
	Reap func(lookupEnv func(string) (string, bool)) func(context.Context, backend.Entry) error
	// Doctor checks what the kind needs; the site is closed afterwards. cfg is nil when the configuration is
	// invalid; asked is set when containers are to be checked in any case.
	Doctor func(ctx context.Context, s *Site, cfg *lang.Config, asked bool) []Finding
	// Clean removes the containers and images of a project that belong to no living
	// run. What it returns is nil when nothing could be tried.
	Clean func(ctx context.Context, s *Site) (*RemovedContainers, error)
	// Clusters are the project's, as far as this machine knows. No server is asked.
	Clusters func(s *Site) ([]Cluster, error)
	// EndClusters ends those of the project's clusters that no living run has, but for
	// those that are kept unless all is set, and returns the names of those that it ended.
	EndClusters func(ctx context.Context, s *Site, all bool) ([]string, error)
	// Forecast says what a run with so much to do would ask for. Only if the project is
	// trusted may it ask a server about prices.
	Forecast func(ctx context.Context, s *Site, b *lang.Backend, nodes int, seconds float64, trusted bool) Launch
}

// Site is what backends of one project share. It is for one goroutine at a time, except
// for Backlog.
type Site struct {
	Store     cache.Store
	Registry  *backend.Registry  // nil for a site that starts no sessions
	Root      string             // directory of the configuration
	State     string             // the project's state directory
	UserState string             // the user's; "" when there is no place for it
	Scratch   string             // directory below which workspaces are made
	Run       string             // id of the run that sessions belong to
	ReadOnly  bool               // write no facts about backends
	Key       backend.SessionKey // proves what is found of earlier runs
	// Notice tells a person what happens to machines; it is safe for concurrent use.
	Notice func(text string)
	// Leftover tells a person of a cluster that could not be ended.
	Leftover  func(err error)
	LookupEnv func(string) (string, bool)
	// Trusts reports whether the project is trusted with some of what a Kind Asks; nil
	// trusts it with everything.
	Trusts func(asks []string) bool
	// Digest is that of a file whose state the caller has just read. It may be nil.
	Digest func(path string, state fs.FileInfo) (cache.Digest, error)

	backlog graph.Backlog
	shared  map[any]any
	closers []func() error
}

// Shared returns what a site has under a key; create makes it when there is nothing
// yet. A kind chooses keys of a type of its own.
func Shared[T any](s *Site, key any, create func() (T, error)) (T, error) {
	if known, ok := s.shared[key]; ok {
		return known.(T), nil
	}
	made, err := create()
	if err != nil {
		return made, err
	}
	if s.shared == nil {
		s.shared = map[any]any{}
	}
	s.shared[key] = made
	return made, nil
}

// Backlog returns how many nodes of a pool wait for a slot at this moment, and the seconds
// that they are expected to take together; see graph.Backlog. It is safe for concurrent use,
// and 0 outside of a run.
func (s *Site) Backlog(pool string) (nodes int, seconds float64) { return s.backlog.Waiting(pool) }

// OnClose has the site call a function when it is closed: the last one first.
func (s *Site) OnClose(f func() error) { s.closers = append(s.closers, f) }

// Close ends what backends keep between sessions.
func (s *Site) Close() error {
	var errs []error
	for _, c := range slices.Backward(s.closers) {
		errs = append(errs, c())
	}
	s.closers, s.shared = nil, nil
	return errors.Join(errs...)
}

// Living reports whether a run of the project, by its id, is going on.
func (s *Site) Living(run string) (bool, error) { return backend.Living(sessionsDir(s.State), run) }

// kind finds the kind of a block.
func (p *Project) kind(b *lang.Backend) Kind {
	for _, k := range p.options.Kinds {
		if k.Name == b.Kind {
			return k
		}
	}
	return Kind{Name: b.Kind}
}

// executor implements plan.Environment.Executor. It is the one place that lets a call which
// only reads run what the project names.
func (p *Project) executor(b *lang.Backend, env []string) (plan.Executor, error) {
	k := p.kind(b)
	if k.New == nil {
		return plan.Executor{}, fmt.Errorf("kind %q is not available in this version", b.Kind)
	}
	made, err := k.New(p.site, b, env)
	if err != nil || k.Asks == nil {
		return made, err
	}
	asks := k.Asks(b)
	if p.trust.adding {
		p.trust.add(b.Addr(), asks)
		return made, nil
	}
	if p.trust.allows(asks) {
		return made, nil
	}
	return withheld(made, func() error {
		p.untrusted.Do(func() { p.options.notify(Untrusted{}) })
		return &graph.UnknownError{Err: fmt.Errorf("backend %s was not asked who it is, since the project is not trusted", b.Addr())}
	}), nil
}

// tools implements plan.Environment.Tools.
func (p *Project) tools(b *lang.Backend) []string {
	k := p.kind(b)
	if k.Tools == nil {
		return nil
	}
	return append(k.Tools(p.options.lookupEnv), requirements.SystemCertificates(p.options.lookupEnv)...)
}

// environments implements plan.Environment.Environments.
func (p *Project) environments(b *lang.Backend) string {
	if k := p.kind(b); k.Environments != "" {
		return k.Environments
	}
	dir, err := p.options.cacheDir(p.Config)
	if err != nil { // then there is no store, either
		return ""
	}
	return filepath.Join(dir, "environments")
}

// reapers end sessions of crashed runs, by the kind of their backends.
func (o *Options) reapers() map[string]func(context.Context, backend.Entry) error {
	all := map[string]func(context.Context, backend.Entry) error{}
	sessionKey := sync.OnceValues(o.sessionKey) // most runs find nothing to end
	for _, k := range o.Kinds {
		if k.Reap == nil {
			continue
		}
		reap := k.Reap(o.lookupEnv)
		all[k.Name] = func(ctx context.Context, e backend.Entry) error {
			key, err := sessionKey()
			if err == nil {
				err = key.Check(e)
			}
			if err != nil {
				return fmt.Errorf("session %s: %w", e.ID, err)
			}
			return reap(ctx, e)
		}
	}
	return all
}

// bareSite is a site for what is asked of kinds outside of a run.
func (o *Options) bareSite() *Site {
	key, _ := o.userKey(false) // without one there is nothing to prove
	userState, _ := o.userState()
	return &Site{
		Store: cache.NewMemory(), State: o.StateDir(), UserState: userState, Scratch: scratchDir(), LookupEnv: o.lookupEnv, Key: key,
		Notice: o.noticeMachines, Leftover: o.noticeLeftover,
	}
}

func (o *Options) noticeMachines(text string) { o.notify(Machines{text}) }
func (o *Options) noticeLeftover(err error)   { o.notify(ClusterLeft{err}) }

// scratchDir is where workspaces are made: a short path, since sockets in it
// have little room, and one per user.
func scratchDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("fevalgraph-%d", os.Getuid()))
}
