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
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// call holds the open configuration, state, stores and backend site of a project for one call. It must be used
// by one goroutine at a time and be closed.
type call struct {
	Config    *lang.Config
	evaluated bool             // Config was loaded from HCL instead of the index
	inputs    []cache.Sighting // files and variables that it was evaluated from, if evaluated
	warnings  diag.List

	options    *Options
	access     Access
	state      string // .fevalgraph
	partitions partition.Store
	place      proof.Place
	records    event.Records
	run        string // run id, for things that this invocation creates
	stores     *stores.Stores
	files      *cache.FileIndex
	locker     *requirements.Locker
	registry   *backend.Registry // nil unless access is Writing
	site       *kind.Site

	trace     *partition.Trace
	trust     *user.Trust
	untrusted sync.Once // reports that a backend was not queried
	// secretEnv reads the environment without tracing: results must not depend on its values.
	secretEnv func(name string) (string, bool)
}

// Access limits what a call can do with a project.
type Access int

const (
	Reading  Access = iota // writes nothing
	Writing                // can execute nodes
	renewing               // as Writing, and replaces an invalid lock file
)

// openCall loads the configuration, from the index if that is current, and opens state and stores.
func openCall(ctx context.Context, o Options, access Access, known *partition.Index) (*call, error) {
	t, untraced := partition.NewTrace(), o
	o.LookupEnv = t.LookupEnv(untraced.Getenv)
	root := cache.Probe{Path: options.Absolute(o.ProjectDir()), Follow: true, Exists: true}.Sight()
	c, began := &call{options: &o, access: access, trace: t, secretEnv: untraced.Getenv}, time.Now()
	if c.Config = recallConfig(&o, known); c.Config != nil {
		c.warnings = known.Warnings
	} else {
		if err := c.load(began); err != nil {
			return nil, err
		}
		c.inputs = append(c.inputs, root)
	}
	if err := c.open(ctx); err != nil {
		return nil, c.closeAfter(err)
	}
	return c, nil
}

// load evaluates the configuration. before is a time before any of it was read.
func (c *call) load(before time.Time) error {
	cfg, warnings, err := c.options.LoadWarned()
	if err == nil {
		c.Config, c.evaluated, c.inputs, c.warnings = cfg, true, partition.InputSightings(cfg.Inputs, before), warnings
	}
	return err
}

// locate sets the paths of the call's files and directories, without opening them.
func (c *call) locate() {
	o, cfg, writing := c.options, c.Config, c.access == Writing
	c.state = o.StateDirOf(cfg.Root)
	c.partitions = partition.StoreIn(c.state)
	c.place, c.records = o.Place(c.state, writing), o.RecordsIn(c.state, writing)
	c.run = event.NextRunID(c.records, time.Now(), uint16(rand.Uint32()))
	c.trust = o.OpenTrust()
	c.trust.Adding = c.access != Reading && !o.Restricted
	userState, _ := user.StateDir(o.Getenv) // sessions and records report why it is missing
	c.site = &kind.Site{Root: cfg.Root, State: c.state, UserState: userState, Scratch: options.ScratchDir(), Run: c.run, Place: c.place, ReadOnly: c.access == Reading, LookupEnv: o.Getenv}
	c.site.Notice, c.site.Leftover = o.NoticeMachines, o.NoticeLeftover
	c.site.Key, _ = o.UserKey(writing) // openSessions reports why it is missing
}

// open opens the store and the records of earlier runs. A call that can execute ends the sessions of crashed
// runs.
func (c *call) open(ctx context.Context) error {
	c.locate()
	if c.access != Reading {
		err := options.MakeState(c.state)
		if err == nil {
			err = os.MkdirAll(c.partitions.Dir, 0o755)
		}
		if err != nil {
			return exit.With(exit.Usage, fmt.Errorf("creating the state directory: %w", options.HintStateDir(err)))
		}
	}
	var err error
	use := stores.Use{ReadOnly: c.access == Reading, MakeKey: c.access == Writing, Trust: c.trust, LookupEnv: c.secretEnv}
	if c.stores, err = stores.Open(c.options, c.Config, use); err != nil {
		return err
	}
	c.site.Store = c.stores.Store
	if c.files, err = cache.OpenFileIndex(filepath.Join(c.state, "files"), c.place); err != nil {
		return exit.With(exit.NotJudged, err)
	}
	c.site.Digest = c.files.Digest
	if c.locker, err = c.newLocker(); err != nil {
		return exit.With(exit.Usage, err)
	}
	if c.access == Reading {
		return nil
	}
	return c.openSessions(ctx)
}

// environment returns the dependencies of the compiler.
func (c *call) environment() plan.Environment {
	return plan.Environment{
		Store: c.stores.Store, States: c.files, Executor: c.executor, Tools: c.tools,
		Environments: c.environments, Offline: c.options.Offline, LookupEnv: c.options.Getenv, Pins: c.locker.Pins, Benchmarks: c.options.Benchmarks, Sources: c.sources,
	}
}

// sources returns the source reader of a node.
func (c *call) sources(addr string) tasks.Sources {
	return c.trace.Sources(addr, c.files, c.stores.Store)
}

// close saves the file index and releases files and backends. It is idempotent.
func (c *call) close() error {
	var errs []error
	if c.files != nil && c.access != Reading {
		errs = append(errs, c.files.Save())
	}
	if c.access != Reading {
		_ = c.trust.Save() // without it, plan explains how to trust the project
	}
	if c.registry != nil {
		c.endLeftClusters()
	}
	errs = append(errs, c.site.Close())
	if c.stores != nil {
		errs = append(errs, c.stores.Close())
	}
	if c.registry != nil {
		errs = append(errs, c.registry.Close())
	}
	c.files, c.registry, c.site, c.stores = nil, nil, &kind.Site{}, nil
	return errors.Join(errs...)
}

// closeAfter closes the call and returns err, which explains more than an error of closing.
func (c *call) closeAfter(err error) error {
	if closeErr := c.close(); closeErr != nil && err == nil {
		return exit.With(exit.NotJudged, closeErr)
	}
	return err
}

// openSessions ends the sessions of crashed runs and registers this one.
func (c *call) openSessions(ctx context.Context) error {
	dir := kind.SessionsDir(c.state)
	reaped, err := backend.Reap(ctx, dir, c.options.Reapers())
	if err != nil {
		c.options.Note(options.SessionsUnknown{Err: err})
	}
	ended, left := options.SumReaped(reaped)
	if ended > 0 {
		c.options.Note(options.SessionsEnded{Count: ended})
	}
	for _, err := range left {
		c.options.Note(options.SessionLeft{Err: err})
	}
	if c.registry, err = backend.OpenRegistry(dir, c.run); options.IsDenied(err) {
		return exit.With(exit.Usage, options.HintStateDir(err))
	} else if err != nil {
		return exit.With(exit.NotJudged, err)
	}
	// Without a key, sessions are listed, and after a crash the user must end them.
	if key, err := c.options.UserKey(true); err == nil {
		c.registry.Prove(key)
	} else {
		c.options.Note(options.SessionsUnknown{Err: err})
	}
	c.site.Registry = c.registry
	return nil
}
