package options

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Options name a project and its dependencies on the outside world.
type Options struct {
	lang.Inputs
	lang.Additions
	Permissions
	// LookupEnv reads the caller's environment; nil means an empty one. FEVALGRAPH_DIR and
	// FEVALGRAPH_CACHE_DIR move the state and the store.
	LookupEnv func(name string) (string, bool)
	Version   string // of the program, for required_version and records
	Jobs      int    // nodes that run at once; 0 means the number of processors

	StoreReadOnly bool // leave the shared store unchanged: results go to the project's own
	// Remotes selects the remote caches to use, by name, with the mode "r" or "rw". Nil means all, with the
	// modes of the configuration.
	Remotes map[string]string

	// Done ends the evaluation of the configuration when it is closed; nil never does.
	Done <-chan struct{}

	// Benchmarks are the benchmarks whose rules and files the configuration can name.
	Benchmarks []plan.Benchmark
	// Kinds are the available kinds of backends.
	Kinds []kind.Kind
	// Notify receives remarks during the call, from any goroutine; nil ignores them.
	Notify func(Notice)
}

// Permissions are what a call can do outside of the project's directory.
type Permissions struct {
	Offline bool // resolve no requirements over the network
	Locked  bool // requirements that are not locked are an error
	Trusted bool // calls that only read may probe the project's backends
	// Restricted makes a call that writes grant the project no trust, and execute and probe only what the
	// project is trusted with.
	Restricted bool
}

func (o *Options) Note(n Notice) {
	if o.Notify != nil {
		o.Notify(n)
	}
}

func (o *Options) Getenv(name string) (string, bool) {
	if o.LookupEnv == nil {
		return "", false
	}
	return o.LookupEnv(name)
}

// RunJobs returns how many nodes run at once: as requested, within the limit on open files.
func (o *Options) RunJobs() int {
	return min(o.WantedJobs(), mostJobs())
}

func (o *Options) WantedJobs() int {
	if o.Jobs == 0 {
		return runtime.NumCPU()
	}
	return o.Jobs
}

// Lang returns the options of loading.
func (o *Options) Lang() lang.Options {
	in := o.Inputs
	in.Within = slices.Concat(o.Within, o.Recorded)
	return plan.WithBenchmarks(lang.Options{
		Inputs: in, Env: o.Getenv, Version: o.Version, Additions: o.Additions, Done: o.Done,
		Extensions: lang.Extensions{Kinds: kind.Blocks(o.Kinds)},
	}, o.Benchmarks)
}

// LoadWarned reads the configuration, and reports and returns its warnings. Errors in it are a diag.List in
// an *exit.Error.
func (o *Options) LoadWarned() (*lang.Config, diag.List, error) {
	cfg, diags := lang.Load(o.Lang())
	if diags.HasErrors() {
		return nil, nil, exit.With(exit.Usage, diags)
	}
	if len(diags) > 0 {
		o.Note(Warnings{diags})
	}
	return cfg, diags, nil
}

// Load reads the configuration without reporting warnings. Errors in it are a diag.List in an *exit.Error.
func (o *Options) Load() (*lang.Config, error) {
	cfg, _, err := o.LoadWarned()
	return cfg, err
}

// Path resolves a file name of the caller relative to Dir.
func (o *Options) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(o.Dir, name)
}

// HasDir reports whether a name, relative to Dir, is that of a directory.
func (o *Options) HasDir(name string) bool {
	info, err := os.Stat(o.Path(name))
	return err == nil && info.IsDir()
}

// ProjectDir returns the directory of the configuration's main file.
func (o *Options) ProjectDir() string {
	if o.File == "" {
		return o.Dir
	}
	return filepath.Dir(o.Path(o.File))
}

// StateDirOf returns the directory for logs and records of the project in root.
func (o *Options) StateDirOf(root string) string {
	dir, ok := o.Getenv("FEVALGRAPH_DIR")
	switch {
	case !ok || dir == "":
		return filepath.Join(root, StateName)
	case filepath.IsAbs(dir):
		return dir
	}
	return filepath.Join(root, dir)
}

// StateDir returns the project's state directory, whether or not its configuration is valid.
func (o Options) StateDir() string { return o.StateDirOf(o.ProjectDir()) }

// Absolute returns an absolute path, or the path itself if that is impossible.
func Absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
