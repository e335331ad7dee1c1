package backend

import (
	"context"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Sandbox runs single programs under exact limits: compilers, submissions and checkers of judge problems.
// Unlike a Backend, it keeps no workspace between Runs, a program sees only the files of its request, and
// a run takes milliseconds.
//
// Methods are safe for concurrent use. As with a Backend, an error means that the infrastructure failed
// and the same request can be sent again: the sandbox could not be reached, lost a file, or reported an
// internal failure. Whatever a program does is reported in its Ending.
type Sandbox interface {
	// Identity returns the part of keys that depends on the sandbox: the platform, the sandbox's version and
	// those of the compilers and interpreters that its programs use. Callers ask once per run.
	Identity(ctx context.Context) (Identity, error)
	// Run runs programs concurrently and returns an Ending for each, in the same order. StdinFrom connects
	// them. Cancelling ctx ends them early; the error is ctx's cause.
	Run(ctx context.Context, programs ...Program) ([]Ending, error)
}

// Program is a program of a request. Its directory is empty except for Files.
type Program struct {
	Argv []string // Argv[0] is an absolute path or the name of one of Files
	Env  []string // KEY=value, complete
	// Files are put into the program's directory, executable.
	Files []File
	// Stdin is the digest of content in the store; zero means empty input.
	Stdin cache.Digest
	// StdinFrom is 1 + the index of the program of the same request whose standard output this program reads;
	// 0 means no program. The output of that program is not kept.
	StdinFrom int
	Limits    Limits
	// Keep names files of the directory, slash-separated, that are returned in Ending.Kept. Missing and
	// irregular files are omitted.
	Keep []string
}

// File is a regular file at a slash-separated path of a program's directory: content of the store, or
// Content if the Digest is zero.
type File struct {
	Path    string
	Digest  cache.Digest
	Content []byte
}

// Limits are the limits of one program. Each can change an outcome, so all must enter keys.
type Limits struct {
	CPU          time.Duration // processor time of all its processes together
	Clock        time.Duration // time from start to end
	Memory       int64         // bytes, of all its processes together
	Stack        int64         // bytes; 0 means Memory
	AddressSpace bool          // Memory limits each process's address space as well
	Processes    int           // processes and threads at a time
	Stdout       int64         // maximum bytes; more is OutputLimit
	Stderr       int64         // kept bytes; the rest is dropped
	Kept         int64         // maximum bytes of each kept file; 0 means the sandbox's own limit
}

// EndingStatus describes how a program ended.
type EndingStatus string

// The statuses.
const (
	Exited      EndingStatus = "exited"       // by itself, with Ending.Code
	Signalled   EndingStatus = "signalled"    // by a signal that no limit sent
	CPULimit    EndingStatus = "cpu limit"    // Limits.CPU
	ClockLimit  EndingStatus = "clock limit"  // Limits.Clock, below Limits.CPU
	MemoryLimit EndingStatus = "memory limit" // Limits.Memory
	OutputLimit EndingStatus = "output limit" // Limits.Stdout, or the size of a file
)

// Ending describes how a program ended, and its outputs.
type Ending struct {
	Status EndingStatus
	Code   int    // exit status when Exited
	Signal string // "segmentation fault" when Signalled
	// Stdout is the digest of at most Limits.Stdout bytes of output in the store. It is set for every status,
	// but zero for a program whose output another program reads.
	Stdout cache.Digest
	Stderr []byte
	Kept   []KeptFile // in the order of Program.Keep
	// Measurements, which are not part of a verdict.
	CPU    time.Duration
	Clock  time.Duration
	Memory int64 // peak, in bytes
	// Contended reports that other processes competed for the machine's processors, or that this is unknown.
	// Clock then says little about the program.
	Contended bool
}

// KeptFile is a file that a program left, in the store.
type KeptFile struct {
	Path   string
	Digest cache.Digest
}

// SandboxVersions are the default commands whose output in a sandbox enters keys.
var SandboxVersions = []string{"/usr/bin/g++ --version", "/usr/bin/python3 --version"}
