package eval

import (
	"path/filepath"
	"runtime"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Options name a project and what a call may use of the outside world.
type Options struct {
	Dir      string   // of the configuration; "" is "."
	File     string   // in place of fevalgraph.hcl, relative to Dir
	Vars     []string // NAME=VALUE, in order
	VarFiles []string // relative to Dir, in order
	// LookupEnv reads the caller's environment; nil is an empty one.
	// FEVALGRAPH_DIR and FEVALGRAPH_CACHE_DIR move the state and the store.
	LookupEnv func(name string) (string, bool)
	Version   string // of the program, for required_version and records
	Jobs      int    // nodes that run at once; 0 is the number of processors

	StoreReadOnly bool // leave the shared store as it is: results go to one of the project's own
	// Remotes are the remote caches that are used, by name, and how: "r" or "rw". Nil uses
	// all as the configuration says.
	Remotes map[string]string
	Offline bool // resolve no requirements over the network
	Trusted bool // calls that only read may ask the project's backends who they are
	Locked  bool // requirements that are not locked are an error

	AdHoc      *lang.AdHoc // adds one solution that no block declares
	References int         // adds the solutions that problems ship, each so often, as the suite lang.ReferenceName

	// Benchmarks are those whose rules and files the configuration may name.
	Benchmarks []plan.Benchmark
	// Kinds are the kinds of backends that there are.
	Kinds []Kind
	// Notify receives remarks that are no errors, while the call goes on, from any
	// goroutine; nil ignores them.
	Notify func(Notice)
}

// Notice is a remark that is no error. Its type says what it is about.
type Notice interface{ notice() }

type (
	// Warnings are what loading a configuration or a file of pairs found.
	Warnings struct{ Diagnostics diag.List }
	// InvalidProblems are the mistakes of problems that are among the targets.
	InvalidProblems struct{ Diagnostics diag.List }
	// LogDamaged says how many records of the build log were dropped.
	LogDamaged struct{ Dropped int }
	// ForeignRecords says how many records of packs neither the user nor the group signed.
	ForeignRecords struct{ Count int }
	// LockRenewed says that a lock file could not be read, and that a new one
	// takes its place.
	LockRenewed struct{ Name string }
	// LockUnhashed says that a lock file has no hashes of some pins, so that what is
	// installed for them is not checked.
	LockUnhashed struct {
		Name string
		Pins []string
	}
	// Locking says that so many requirements are being resolved for a version of Python.
	Locking struct {
		Requirements int
		Python       string
	}
	// Machines says what happens to machines that a backend launches.
	Machines struct{ Text string }
	// ClusterLeft says why a cluster, which may cost money, could not be ended.
	ClusterLeft struct{ Err error }
	// JobsReduced says that fewer nodes run at once than was asked for, because of the
	// limit on open files.
	JobsReduced struct{ Wanted, Jobs, Limit int }
	// SessionsEnded says how many sessions of earlier runs were ended.
	SessionsEnded struct{ Count int }
	// SessionLeft says why sessions of earlier runs are still there.
	SessionLeft struct{ Err error }
	// KeyMissing says why results are stored so that no later run trusts them: there is
	// no key to sign them with.
	KeyMissing struct{ Err error }
	// SessionsUnknown says why sessions of earlier runs could not be listed.
	SessionsUnknown struct{ Err error }
	// Untrusted says that a backend was not asked who it is, since that takes programs or
	// servers that the project is not trusted with; or a remote cache, by its name, for its
	// results.
	Untrusted struct{ Cache string }
	// RemoteTrouble says what is wrong with a remote cache, of which as much is used as can be.
	RemoteTrouble struct {
		Name string
		Err  error
	}
	// RemoteSending says how many results are still to be sent to a remote cache, when that
	// takes a while.
	RemoteSending struct {
		Name    string
		Results int
	}
)

func (Warnings) notice()        {}
func (InvalidProblems) notice() {}
func (LogDamaged) notice()      {}
func (ForeignRecords) notice()  {}
func (LockRenewed) notice()     {}
func (LockUnhashed) notice()    {}
func (Locking) notice()         {}
func (Machines) notice()        {}
func (ClusterLeft) notice()     {}
func (JobsReduced) notice()     {}
func (SessionsEnded) notice()   {}
func (SessionLeft) notice()     {}
func (KeyMissing) notice()      {}
func (SessionsUnknown) notice() {}
func (Untrusted) notice()       {}
func (RemoteTrouble) notice()   {}
func (RemoteSending) notice()   {}

func (o *Options) notify(n Notice) {
	if o.Notify != nil {
		o.Notify(n)
	}
}

func (o *Options) lookupEnv(name string) (string, bool) {
	if o.LookupEnv == nil {
		return "", false
	}
	return o.LookupEnv(name)
}

// jobs is how many nodes run at once: what was asked for, as far as there are descriptors.
func (o *Options) jobs() int {
	return min(o.wantedJobs(), mostJobs())
}

func (o *Options) wantedJobs() int {
	if o.Jobs == 0 {
		return runtime.NumCPU()
	}
	return o.Jobs
}

// lang are the options of loading.
func (o *Options) lang() lang.Options {
	return lang.Options{Dir: o.Dir, File: o.File, Vars: o.Vars, VarFiles: o.VarFiles, Env: o.lookupEnv, Version: o.Version,
		AdHoc: o.AdHoc, References: o.References}
}

// load reads the configuration, and shows its warnings. Mistakes are the error, a
// diag.List in an *exit.Error.
func (o *Options) load() (*lang.Config, diag.List, error) {
	cfg, diags := lang.Load(o.lang())
	if diags.HasErrors() {
		return nil, nil, exit.With(exit.Usage, diags)
	}
	if len(diags) > 0 {
		o.notify(Warnings{diags})
	}
	return cfg, diags, nil
}

// Load reads the configuration alone. Mistakes are the error, a diag.List in an
// *exit.Error.
func Load(o Options) (*lang.Config, error) {
	cfg, _, err := o.load()
	return cfg, err
}

// Path is where a file is that a caller names relative to Dir.
func (o *Options) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(o.Dir, name)
}

// projectDir is the directory of the configuration's main file.
func (o *Options) projectDir() string {
	if o.File == "" {
		return o.Dir
	}
	return filepath.Join(o.Dir, filepath.Dir(o.File))
}

// stateDir is the directory for logs and records of the project in root.
func (o *Options) stateDir(root string) string {
	dir, ok := o.lookupEnv("FEVALGRAPH_DIR")
	switch {
	case !ok || dir == "":
		return filepath.Join(root, stateName)
	case filepath.IsAbs(dir):
		return dir
	}
	return filepath.Join(root, dir)
}

// StateDir is the project's state directory, whether or not its configuration is
// valid.
func (o Options) StateDir() string { return o.stateDir(o.projectDir()) }
