package backend

import (
	"context"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Sandbox runs single programs under exact limits: compilers, submissions and
// checkers of judge problems. It is to a Backend what one system call is to a
// shell session: there is no workspace that outlives a Run, a program sees the
// files of its request and nothing else, and a run costs milliseconds.
//
// Methods are safe for concurrent use. As with a Backend, an error means that
// the machinery broke and the same request may be sent again, be it that the
// sandbox could not be reached, that it lost a file, or that it reports a
// failure of its own; what a program did, however bad, is its Ending.
type Sandbox interface {
	// Identity resolves what enters keys: the platform, the sandbox's version
	// and those of the compilers and interpreters that its programs use.
	// Callers ask once per run.
	Identity(ctx context.Context) (Identity, error)
	// Run runs programs at the same time and returns an Ending for each, in
	// their order. Several are connected by StdinFrom. Cancelling ctx ends
	// them early with ctx's cause as the error.
	Run(ctx context.Context, programs ...Program) ([]Ending, error)
}

// Program is one program of a request. Its directory is empty but for Files.
type Program struct {
	Argv []string // Argv[0] is an absolute path or the name of one of Files
	Env  []string // KEY=value, complete
	// Files are put into the program's directory, executable.
	Files []File
	// Stdin is content of the store; the zero Digest is no input at all.
	Stdin cache.Digest
	// StdinFrom is 1 + the index of the program of the same request whose
	// standard output this one reads; 0 is none. What Stdout says of a program
	// that is read from is not kept.
	StdinFrom int
	Limits    Limits
	// Keep names files of the directory, slash-separated, that are wanted in
	// Ending.Kept. One that is not there, or is no regular file, is left out.
	Keep []string
}

// File is a regular file at a slash-separated path of a program's directory:
// content of the store, or Content itself when the Digest is zero.
type File struct {
	Path    string
	Digest  cache.Digest
	Content []byte
}

// Limits of one program. Every one of them can change an outcome and belongs
// into keys.
type Limits struct {
	CPU          time.Duration // processor time of all its processes together
	Clock        time.Duration // time from start to end
	Memory       int64         // bytes, of all its processes together
	Stack        int64         // bytes; 0 is Memory
	AddressSpace bool          // Memory limits each process's address space as well
	Processes    int           // processes and threads at a time
	Stdout       int64         // bytes that are kept; more is OutputLimit
	Stderr       int64         // bytes that are kept; the rest is dropped
	Kept         int64         // bytes of each kept file; 0 is the sandbox's own limit
}

// EndingStatus says how a program ended.
type EndingStatus string

// The statuses.
const (
	Exited      EndingStatus = "exited"       // by itself, with Ending.Code
	Signalled   EndingStatus = "signalled"    // by a signal that no limit sent
	CPULimit    EndingStatus = "cpu limit"    // Limits.CPU
	ClockLimit  EndingStatus = "clock limit"  // Limits.Clock, with CPU to spare
	MemoryLimit EndingStatus = "memory limit" // Limits.Memory
	OutputLimit EndingStatus = "output limit" // Limits.Stdout, or the size of a file
)

// Ending is how a program ended and what it left.
type Ending struct {
	Status EndingStatus
	Code   int    // exit status when Exited
	Signal string // "segmentation fault" when Signalled
	// Stdout is in the store, at most Limits.Stdout bytes of it. It is there
	// for every status; zero for a program that another one reads from.
	Stdout cache.Digest
	Stderr []byte
	Kept   []KeptFile // in the order of Program.Keep
	// Measurements: no part of a verdict.
	CPU    time.Duration
	Clock  time.Duration
	Memory int64 // bytes, the most at any time
	// Contended says that others wanted the machine's processors as well, or
	// that is not known: then Clock says little about the program.
	Contended bool
}

// KeptFile is a file that a program left, in the store.
type KeptFile struct {
	Path   string
	Digest cache.Digest
}
