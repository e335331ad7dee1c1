package backend

import (
	"context"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Sandbox runs single programs under exact limits: compilers, submissions and checkers of judge problems. It
// is to a Backend what a system call is to a shell session: no workspace outlives a Run, a program sees only
// the files of its request, and a run costs milliseconds.
//
// Methods are safe for concurrent use. As with a Backend, an error means that the machinery broke and the
// same request can be sent again: the sandbox could not be reached, it lost a file, or it reports a failure
// of itself. What a program did, however bad, is its Ending.
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

// Program is a program of a request. Its directory is empty except for Files.
type Program struct {
	Argv []string // Argv[0] is an absolute path or the name of one of Files
	Env  []string // KEY=value, complete
	// Files are put into the program's directory, executable.
	Files []File
	// Stdin is content of the store; the zero Digest means empty input.
	Stdin cache.Digest
	// StdinFrom is 1 + the index of the program of the same request whose standard output this program
	// reads; 0 means no program. The output of a program that is read from is not kept.
	StdinFrom int
	Limits    Limits
	// Keep names files of the directory, slash-separated, that are returned in Ending.Kept. A file that is
	// missing, or not regular, is left out.
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
	Stack        int64         // bytes; 0 means Memory
	AddressSpace bool          // Memory limits each process's address space as well
	Processes    int           // processes and threads at a time
	Stdout       int64         // bytes that are kept; more is OutputLimit
	Stderr       int64         // bytes that are kept; the rest is dropped
	Kept         int64         // bytes of each kept file; 0 means the sandbox's own limit
}

// EndingStatus describes how a program ended.
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

// Ending describes how a program ended, and its outputs.
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
	// Contended reports that others wanted the machine's processors as well, or
	// that is not known: then Clock says little about the program.
	Contended bool
}

// KeptFile is a file that a program left, in the store.
type KeptFile struct {
	Path   string
	Digest cache.Digest
}

// SandboxVersions are the commands, run in a sandbox, whose output enters keys unless a block names others.
var SandboxVersions = []string{"/usr/bin/g++ --version", "/usr/bin/python3 --version"}
