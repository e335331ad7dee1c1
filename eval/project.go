package eval

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/eval/stores"
	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/tasks"
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
	place    proof.Place
	records  event.Records
	run      string // id for what happens in this invocation
	stores   *stores.Stores
	index    *cache.FileIndex
	locker   *requirements.Locker
	registry *backend.Registry // nil unless the access is Writing
	site     *kind.Site

	last       partition.Lasts // what earlier runs left of the compiled nodes
	parts      []partState     // of the configuration, in the order of results
	known      recalled
	expanded   bool                  // the plan has every node of fresh partitions
	suites     partition.Suites      // that were not compiled, since nothing was
	rehydrated []*plan.BackendHandle // backends that have just been asked
	evaluated  bool                  // Config comes from HCL, not from the index
	inputs     []cache.Sighting      // that it was evaluated from, when it was
	warnings   diag.List             // that evaluating it found, likewise
	trace      *partition.Trace
	trust      *user.Trust
	untrusted  sync.Once // says that a backend was not asked
	// secretEnv reads the environment without a trace: what is in no result may change.
	secretEnv func(name string) (string, bool)
	salt      []byte              // of a first index
	damaged   *event.DamagedError // a record that should have had last results
	dryRun    decided             // for states and readers
	words     struct {            // for verdicts of checkpoints
		of    *plan.Plan
		words map[plan.CellID][]string
	}
}

// Access says what a call does with a project.
type Access int

const (
	Reading  Access = iota // write nothing
	Writing                // nodes may be executed
	renewing               // likewise, and the lock file is replaced whatever is in it
)

// Open loads the configuration, opens state and store, and compiles everything.
func Open(ctx context.Context, o Options, access Access) (*Project, error) {
	p, err := openProject(ctx, o, access, nil)
	if err != nil {
		return nil, err
	}
	if err := p.compile(ctx, false); err != nil {
		return nil, p.closeAfter(err)
	}
	return p, nil
}

// openChanged opens what earlier runs recorded of the project and finds out what of it
// is stale. It compiles nothing.
func openChanged(ctx context.Context, o Options, access Access) (*Project, error) {
	if o.AdHoc != nil || o.References > 0 {
		return openProject(ctx, o, access, nil)
	}
	return openProject(ctx, o, access, partition.ReadIndex(o.StateDir(), o.Place(o.StateDir(), access == Writing)))
}

func openProject(ctx context.Context, o Options, access Access, known *partition.Index) (*Project, error) {
	began := time.Now()
	t, untraced := partition.NewTrace(), o
	o.LookupEnv = t.LookupEnv(untraced.Getenv)
	root := cache.Probe{Path: options.Absolute(o.ProjectDir()), Follow: true, Exists: true}.Sight()
	cfg := recallConfig(&o, known)
	evaluated := cfg == nil
	var warnings diag.List
	if evaluated {
		var err error
		if cfg, warnings, err = o.LoadWarned(); err != nil {
			return nil, err
		}
	} else {
		warnings = known.Warnings
	}
	p := newProject(&o, cfg, access)
	p.secretEnv = untraced.Getenv
	p.trace, p.evaluated, p.warnings = t, evaluated, warnings
	if evaluated {
		p.inputs = append(partition.InputSightings(cfg.Inputs, began), root)
	}
	if err := p.open(ctx); err != nil {
		return nil, p.closeAfter(err)
	}
	p.recall(ctx, known)
	return p, nil
}

// newProject is a project of which nothing is open yet.
func newProject(o *Options, cfg *lang.Config, access Access) *Project {
	p := &Project{options: o, Config: cfg, access: access, state: o.StateDirOf(cfg.Root), run: event.NewRunID(time.Now(), uint16(rand.Uint32()))}
	p.place, p.records = o.Place(p.state, access == Writing), o.RecordsIn(p.state, access == Writing)
	p.trust = o.OpenTrust()
	p.trust.Adding = access != Reading && !o.Restricted
	userState, _ := o.UserState() // sessions and records say why there is none
	p.site = &kind.Site{Root: cfg.Root, State: p.state, UserState: userState, Scratch: options.ScratchDir(), Run: p.run, Place: p.place, ReadOnly: access == Reading, LookupEnv: o.Getenv}
	p.site.Notice, p.site.Leftover = o.NoticeMachines, o.NoticeLeftover
	p.site.Key, _ = o.UserKey(access == Writing) // openSessions says why there is none
	return p
}

// open opens the store and all that is known of earlier runs. A project that may
// execute ends the sessions of crashed runs.
func (p *Project) open(ctx context.Context) error {
	if p.access != Reading {
		err := options.MakeState(p.state)
		if err == nil {
			err = os.MkdirAll(partition.StoreIn(p.state).Dir, 0o755)
		}
		if err != nil {
			return exit.With(exit.Usage, fmt.Errorf("creating the state directory: %w", options.HintStateDir(err)))
		}
	}
	var err error
	use := stores.Use{ReadOnly: p.access == Reading, MakeKey: p.access == Writing, Trust: p.trust, LookupEnv: p.secretEnv}
	if p.stores, err = stores.Open(p.options, p.Config, use); err != nil {
		return err
	}
	p.site.Store = p.stores.Store
	if p.index, err = cache.OpenFileIndex(filepath.Join(p.state, "files"), p.place); err != nil {
		return exit.With(exit.NotJudged, err)
	}
	p.site.Digest = p.index.Digest
	if p.locker, err = p.newLocker(); err != nil {
		return exit.With(exit.Usage, err)
	}
	if p.access == Reading {
		return nil
	}
	return p.openSessions(ctx)
}

// environment is what compiling needs of the project.
func (p *Project) environment() plan.Environment {
	return plan.Environment{
		Store: p.stores.Store, States: p.index, Executor: p.executor, Tools: p.tools,
		Environments: p.environments, Offline: p.options.Offline, LookupEnv: p.options.Getenv, Pins: p.locker.Pins, Benchmarks: p.options.Benchmarks, Rehydrated: p.rehydrated, Sources: p.sources,
	}
}

// sources is what a node reads source files with.
func (p *Project) sources(addr string) tasks.Sources {
	return p.trace.Sources(addr, p.index, p.stores.Store)
}

// Close saves the file index and releases files and backends. It is
// idempotent.
func (p *Project) Close() error {
	var errs []error
	if p.index != nil && p.access != Reading {
		errs = append(errs, p.index.Save())
	}
	if p.access != Reading {
		_ = p.trust.Save() // without it a plan says how to trust the project
	}
	if p.registry != nil {
		p.endLeftClusters()
	}
	errs = append(errs, p.site.Close())
	if p.stores != nil {
		errs = append(errs, p.stores.Close())
	}
	if p.registry != nil {
		errs = append(errs, p.registry.Close())
	}
	p.index, p.registry, p.site, p.stores = nil, nil, &kind.Site{}, nil
	return errors.Join(errs...)
}

// closeAfter closes the project after a call that returned err, which tells more
// than what closing it says.
func (p *Project) closeAfter(err error) error {
	if closeErr := p.Close(); closeErr != nil && err == nil {
		return exit.With(exit.NotJudged, closeErr)
	}
	return err
}

// openSessions ends the sessions of crashed runs and registers this one.
func (p *Project) openSessions(ctx context.Context) error {
	dir := kind.SessionsDir(p.state)
	reaped, err := backend.Reap(ctx, dir, p.options.Reapers())
	if err != nil {
		p.options.Note(options.SessionsUnknown{Err: err})
	}
	ended, left := options.SumReaped(reaped)
	if ended > 0 {
		p.options.Note(options.SessionsEnded{Count: ended})
	}
	for _, err := range left {
		p.options.Note(options.SessionLeft{Err: err})
	}
	if p.registry, err = backend.OpenRegistry(dir, p.run); options.IsDenied(err) {
		return exit.With(exit.Usage, options.HintStateDir(err))
	} else if err != nil {
		return exit.With(exit.NotJudged, err)
	}
	// Without a key sessions are listed, and after a crash are left for a person to end.
	if key, err := p.options.SessionKey(); err == nil {
		p.registry.Prove(key)
	} else {
		p.options.Note(options.SessionsUnknown{Err: err})
	}
	p.site.Registry = p.registry
	return nil
}

// Last returns what earlier runs left of a compiled node.
func (p *Project) Last(addr string) graph.Last { return p.last.Of(addr) }
