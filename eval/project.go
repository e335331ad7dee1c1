package eval

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// Project is a configuration that was loaded and compiled, with its state and its
// store open. It is for one goroutine at a time; the caller closes it.
type Project struct {
	Config *lang.Config
	Plan   *plan.Plan

	options  *Options
	access   Access
	state    string // .fevalgraph
	run      string // id for what happens in this invocation
	store    store
	index    *cache.FileIndex
	log      *cache.BuildLog
	locker   *locker
	registry *backend.Registry // nil unless the access is Writing
	site     *Site
}

// Access says what a call does with a project.
type Access int

const (
	Reading  Access = iota // write nothing
	Writing                // nodes may be executed
	renewing               // likewise, and the lock file is replaced whatever is in it
)

// Open loads the configuration, opens state and store, and compiles the graph.
func Open(ctx context.Context, o Options, access Access) (*Project, error) {
	cfg, err := o.load()
	if err != nil {
		return nil, err
	}
	p := newProject(&o, cfg, access)
	if err := p.open(ctx); err != nil {
		return nil, p.closeAfter(err)
	}
	if err := p.compile(); err != nil {
		return nil, p.closeAfter(err)
	}
	return p, nil
}

// newProject is a project of which nothing is open yet.
func newProject(o *Options, cfg *lang.Config, access Access) *Project {
	p := &Project{options: o, Config: cfg, access: access, state: o.stateDir(cfg.Root), run: event.NewRunID(time.Now(), uint16(rand.Uint32()))}
	p.site = &Site{Root: cfg.Root, State: p.state, Run: p.run, ReadOnly: access == Reading, LookupEnv: o.lookupEnv,
		inside: map[plan.Driver]requirements.Resolver{}}
	return p
}

// open opens the store and all that is known of earlier runs. A project that may
// execute ends the sessions of crashed runs.
func (p *Project) open(ctx context.Context) error {
	if err := p.openStore(); err != nil {
		return err
	}
	p.site.Store = p.store
	var err error
	if p.index, err = cache.OpenFileIndex(filepath.Join(p.state, "files")); err != nil {
		return fail(NotJudged, err)
	}
	if p.locker, err = newLocker(p); err != nil {
		return fail(Usage, err)
	}
	if err := p.openLog(); err != nil || p.access == Reading {
		return err
	}
	return p.openSessions(ctx)
}

// compile turns the configuration into a graph.
func (p *Project) compile() (err error) {
	p.Plan, err = plan.Compile(p.Config, p.options.jobs(), plan.Environment{
		Store: p.store, States: p.index, Backend: p.driver, Sandbox: p.sandbox, JudgeServer: p.judgeServer, Tools: p.tools,
		Environments: p.environments, LookupEnv: p.options.lookupEnv, Pins: p.locker.pins, Benchmarks: p.options.Benchmarks,
	})
	if err != nil {
		return fail(Usage, err)
	}
	return nil
}

// Close saves the file index and releases files and backends. It is
// idempotent.
func (p *Project) Close() error {
	var errs []error
	if p.index != nil && p.access != Reading {
		errs = append(errs, p.index.Save())
	}
	errs = append(errs, p.site.Close())
	if p.log != nil {
		errs = append(errs, p.log.Close())
	}
	if p.registry != nil {
		errs = append(errs, p.registry.Close())
	}
	p.index, p.log, p.registry, p.site = nil, nil, nil, &Site{}
	return errors.Join(errs...)
}

// closeAfter closes the project after a call that returned err, which tells more
// than what closing it says.
func (p *Project) closeAfter(err error) error {
	if closeErr := p.Close(); closeErr != nil && err == nil {
		return fail(NotJudged, closeErr)
	}
	return err
}

// openSessions ends the sessions of crashed runs and registers this one.
func (p *Project) openSessions(ctx context.Context) error {
	dir := sessionsDir(p.state)
	reaped, err := backend.Reap(ctx, dir, p.options.reapers())
	if err != nil {
		p.options.notify(SessionsUnknown{err})
	}
	ended, left := sumReaped(reaped)
	if ended > 0 {
		p.options.notify(SessionsEnded{ended})
	}
	for _, err := range left {
		p.options.notify(SessionLeft{err})
	}
	if p.registry, err = backend.OpenRegistry(dir, p.run); err != nil {
		return fail(NotJudged, err)
	}
	p.site.Registry = p.registry
	return nil
}

// sessionsDir is where the registry of sessions is.
func sessionsDir(state string) string { return filepath.Join(state, "sessions") }

// sumReaped counts the sessions that were ended, and returns why others were not;
// a reason that several of them share, once.
func sumReaped(reaped []backend.Reaped) (ended int, left []error) {
	said := map[string]bool{}
	for _, r := range reaped {
		switch {
		case r.Err == nil:
			ended++
		case !said[r.Err.Error()]:
			said[r.Err.Error()] = true
			left = append(left, r.Err)
		}
	}
	return ended, left
}

// LastAnswer is the last entry of the build log for an address.
func (p *Project) LastAnswer(addr string) (cache.LogEntry, bool) { return p.log.Get(addr) }
