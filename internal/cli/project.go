package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
	"github.com/fevalgraph/fevalgraph/view"
)

// project is a loaded configuration with its state and its store open.
type project struct {
	app    *app
	cfg    *lang.Config
	state  string // .fevalgraph
	run    string // id for what happens in this invocation
	began  time.Time
	store  store
	index  *cache.FileIndex
	log    *cache.BuildLog
	plan   *plan.Plan
	reads  bool // opened for reading: nothing is written
	renews bool // the lock file is made anew
	locker *locker

	registry *backend.Registry
	daemon   *docker.Daemon // nil until a backend needs one
	backends []closer       // that have something to remove at the end
	judges   judges
	inside   map[plan.Driver]requirements.Resolver // of backends that resolve where they run
}

// closer is a backend that keeps something from one session to the next.
type closer interface {
	Close(ctx context.Context) error
}

// store is a *cache.Disk, or a *cache.Layered over one that may not be changed.
type store interface {
	plan.Store
	graph.Locker
}

// langOptions are the options of loading, from the global flags.
func (a *app) langOptions() lang.Options {
	return lang.Options{
		Dir: a.flags.dir, File: a.flags.file, Vars: a.flags.vars, VarFiles: a.flags.varFiles,
		Env: a.io.LookupEnv, Version: Version(),
	}
}

// load reads the configuration; warnings are shown, errors returned.
func (a *app) load(o lang.Options) (*lang.Config, error) {
	cfg, diags := lang.Load(o)
	if diags.HasErrors() {
		return nil, exit(exitUsage, diags)
	}
	if len(diags) > 0 && !a.flags.quiet {
		view.Diagnostics(a.io.Err, diags, a.colorErr(), 0)
	}
	return cfg, nil
}

// access says what a command does with a project.
type access int

const (
	reading  access = iota // writes nothing: plan, explain, status
	writing                // may execute nodes
	renewing               // likewise, and replaces the lock file whatever is in it
)

// open loads the configuration, opens state and store, and compiles the graph.
func (a *app) open(ctx context.Context, o lang.Options, mode access) (*project, error) {
	began := time.Now()
	cfg, err := a.load(o)
	if err != nil {
		return nil, err
	}
	jobs, err := a.jobs()
	if err != nil {
		return nil, err
	}
	p := a.newProject(cfg, began, mode)
	if err := p.openStore(ctx); err != nil {
		p.close()
		return nil, err
	}
	p.plan, err = plan.Compile(cfg, jobs, p.environment())
	if err != nil {
		p.close()
		return nil, exit(exitUsage, err)
	}
	return p, nil
}

// newProject is a project of which nothing is open yet.
func (a *app) newProject(cfg *lang.Config, began time.Time, mode access) *project {
	return &project{app: a, began: began, cfg: cfg, state: a.stateDir(cfg.Root), reads: mode == reading, renews: mode == renewing, run: newRunID(),
		inside: map[plan.Driver]requirements.Resolver{}}
}

// environment is what compiling gets to see.
func (p *project) environment() plan.Environment {
	return plan.Environment{Store: p.store, States: p.index, Backend: p.driver, Sandbox: p.sandbox, JudgeServer: p.judgeServer, Tools: p.app.tools, Environments: p.environments, LookupEnv: p.app.io.LookupEnv, Pins: p.locker.pins, Benchmarks: p.app.io.Benchmarks}
}

func newRunID() string {
	return event.NewRunID(time.Now(), uint16(rand.Uint32()))
}

func (p *project) openStore(ctx context.Context) error {
	dir, err := p.app.cacheDir(p.cfg)
	if err != nil {
		return err
	}
	if p.store, err = p.openDisks(dir); err != nil {
		var denied *cache.NotWritableError
		if errors.As(err, &denied) {
			return exit(exitUsage, fmt.Errorf("%w; set FEVALGRAPH_CACHE_DIR to a directory that is, or use --cache local:r", err))
		}
		return exit(exitNotJudged, err)
	}
	if err := p.openIndex(); err != nil {
		return err
	}
	if err := p.openLog(); err != nil || p.reads {
		return err
	}
	return p.openSessions(ctx)
}

// openIndex opens what is known of source files and of requirements.
func (p *project) openIndex() (err error) {
	if p.index, err = cache.OpenFileIndex(filepath.Join(p.state, "files")); err != nil {
		return exit(exitNotJudged, err)
	}
	if p.locker, err = newLocker(p); err != nil {
		return exit(exitUsage, err)
	}
	return nil
}

func (p *project) openLog() (err error) {
	path := filepath.Join(p.state, "buildlog")
	if p.reads {
		if p.log, err = cache.ReadBuildLogOf(path, nil); err != nil {
			return exit(exitNotJudged, err)
		}
		return nil
	}
	if err := os.MkdirAll(p.state, 0o755); err != nil {
		return exit(exitUsage, fmt.Errorf("creating the state directory: %w", elsewhere(err)))
	}
	if p.log, err = cache.OpenBuildLogOf(path, nil); isDenied(err) {
		return exit(exitUsage, elsewhere(err))
	} else if err != nil {
		return exit(exitNotJudged, err)
	}
	if n := p.log.Dropped(); n > 0 {
		fmt.Fprintf(p.app.io.Err, "warning: %d damaged records of the build log were dropped; their nodes are looked up or run again\n", n)
	}
	return nil
}

// ownStoreDir is where a project keeps what it may not store with the rest.
func ownStoreDir(state string) string { return filepath.Join(state, "store") }

// openDisks opens the shared store. A command that executes against one that
// it may not change keeps what it makes in the project's own directory.
func (p *project) openDisks(dir string) (store, error) {
	readOnly, err := p.app.cacheReadOnly()
	if err != nil {
		return nil, err
	}
	disk, err := cache.OpenDisk(dir, cache.Options{ReadOnly: p.reads || readOnly})
	if err != nil || !readOnly {
		return disk, err
	}
	own, err := cache.OpenDisk(ownStoreDir(p.state), cache.Options{ReadOnly: p.reads})
	if err != nil {
		return nil, err
	}
	return &cache.Layered{Upper: own, Lower: disk}, nil
}

// isDenied reports whether a file could not be written for its place.
func isDenied(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// elsewhere adds the way out to an error about the state directory.
func elsewhere(err error) error {
	if !isDenied(err) {
		return err
	}
	return fmt.Errorf("%w; set FEVALGRAPH_DIR to a directory that can be written", err)
}

// openSessions ends what a crashed run left and registers this one.
func (p *project) openSessions(ctx context.Context) error {
	sessions := filepath.Join(p.state, "sessions")
	reaped, err := backend.Reap(ctx, sessions, p.app.reapers())
	if err != nil {
		fmt.Fprintf(p.app.io.Err, "warning: ending what an earlier run left: %v\n", err)
	}
	ended, left := sumReaped(reaped)
	if ended > 0 && !p.app.flags.quiet {
		fmt.Fprintf(p.app.io.Err, "ended %d sessions that an earlier run left behind\n", ended)
	}
	for _, err := range left {
		fmt.Fprintf(p.app.io.Err, "warning: a session that an earlier run left behind is still there: %v\n", err)
	}
	if p.registry, err = backend.OpenRegistry(sessions, p.run); err != nil {
		return exit(exitNotJudged, err)
	}
	return nil
}

// close writes what is left to write and lets go of files; the first error is
// the one to show.
func (p *project) close() error {
	var errs []error
	note := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if p.index != nil && !p.reads {
		note(p.index.Save())
	}
	for _, b := range p.backends {
		note(b.Close(context.Background()))
	}
	for _, c := range []io.Closer{&p.judges, p.logCloser(), p.registryCloser(), p.daemonCloser()} {
		if c != nil {
			note(c.Close())
		}
	}
	return errors.Join(errs...)
}

func (p *project) logCloser() io.Closer {
	if p.log == nil {
		return nil
	}
	return p.log
}

func (p *project) registryCloser() io.Closer {
	if p.registry == nil {
		return nil
	}
	return p.registry
}

// sumReaped counts the sessions of which nothing is left, and tells why others
// are; what several of them have in common once.
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

func (p *project) daemonCloser() io.Closer {
	if p.daemon == nil {
		return nil
	}
	return p.daemon
}

// stateDir is the project's own directory for logs and records.
func (a *app) stateDir(root string) string {
	if dir, ok := a.io.LookupEnv("FEVALGRAPH_DIR"); ok && dir != "" {
		if filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(root, dir)
	}
	return filepath.Join(root, ".fevalgraph")
}

// projectState is the state directory for commands that read past runs and
// need no valid configuration.
func (a *app) projectState() string {
	return a.stateDir(a.projectDir())
}

// projectDir is the directory of the configuration's main file.
func (a *app) projectDir() string {
	dir := a.flags.dir
	if a.flags.file != "" {
		dir = filepath.Join(dir, filepath.Dir(a.flags.file))
	}
	return dir
}

// cacheDir is the store's directory, shared between projects.
func (a *app) cacheDir(cfg *lang.Config) (string, error) {
	if dir, ok := a.io.LookupEnv("FEVALGRAPH_CACHE_DIR"); ok && dir != "" {
		return filepath.Abs(dir)
	}
	if cfg != nil && cfg.Settings.CacheDir != "" {
		return cfg.Settings.CacheDir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", exit(exitUsage, fmt.Errorf("finding the cache directory: %w; set FEVALGRAPH_CACHE_DIR", err))
	}
	return filepath.Join(dir, "fevalgraph"), nil
}

func (a *app) cacheReadOnly() (bool, error) {
	switch a.flags.cache {
	case "local:rw", "local", "":
		return false, nil
	case "local:r":
		return true, nil
	}
	return false, exit(exitUsage, fmt.Errorf("--cache %s: want local:rw or local:r", a.flags.cache))
}
