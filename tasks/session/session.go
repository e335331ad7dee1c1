// Package session does the work of a node in a workspace of a backend.
//
// Run opens a workspace, hands it to the task as a Session, and closes it. The task calls, in this order,
// SetUp for each set-up command, Place for files that set-up must not change, and Execute for the program
// that is judged. Execute masks secrets in the program's output, and then verifies the machine and the
// inputs, so that a verdict can be based on its result.
//
// An error means that the work allows no conclusion: the machine, the backend or the problem is at fault.
// Effects of the submission are never errors. If the cause is unclear, the task returns the error of
// Session.Again, and Run repeats the work in a new workspace.
//
// The package also has the common parts of tasks: the Environment of commands, whose variables enter keys
// by value, by the name of a secret, or not at all; a Keeper, which stores outputs, and ReadInput, which
// reads outputs of dependencies; and the classification of a backend's errors and exits, for the engine
// (WithClass, Blame, Doubtful) and as text (Words, LastLine, OutOfMemory).
package session

import (
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
)

// Plan describes the workspace of a node.
type Plan struct {
	Backend backend.Backend
	Spec    backend.Spec // its Name is the address of the node
	Env     Environment  // its secrets are masked
	Machine *Machine
	// Submitted reports that programs of a submission run in the workspace. The submission is refused if they
	// might have made the machine fail in an isolated attempt.
	Submitted bool
	// SetupTimeout limits all set-up commands together; 0 means no limit.
	SetupTimeout time.Duration
	// VerifyInputs return an error if inputs that were read in place no longer have the content in the key.
	VerifyInputs []func() error
	// Within returns the command that starts a program in an environment of the workspace dir; nil means
	// unchanged.
	Within func(dir string, argv []string) []string
	Keep   Keep
}

// Step is a set-up command.
type Step struct {
	Line      string   // for a shell, for logs and for messages
	Directory string   // relative to the workspace
	Argv      []string // runs instead of Line, without Plan.Within
	Env       []string // nil means Plan.Env.Preparing
	// Explain returns the error for a failure that is the problem's fault; it can be nil.
	Explain func(backend.Exit) error
}

// Program is the command that is judged. The Session sets its Output, Errors and Notes.
type Program struct {
	Name string // in messages: "the verifier"
	backend.Command
	Split bool // keep stdout and stderr apart
	// TrustSuccess reports that an exit code of 0 proves that the machine worked.
	TrustSuccess bool
}

// Printed is the output of a program, with secrets, and how it ended.
type Printed struct {
	backend.Exit
	Output, Errors       []byte // Errors only for a Program with Split
	RawOutput, RawErrors []byte
}

// Exit is the stored form of the end of a program, or of a failed set-up command.
type Exit struct {
	Setup       string  `json:"setup,omitempty"` // the set-up command
	Code        int     `json:"code"`
	Signal      string  `json:"signal,omitempty"`
	TimedOut    bool    `json:"timed_out,omitempty"`
	Limit       float64 `json:"limit,omitempty"`        // seconds
	MemoryLimit int64   `json:"memory_limit,omitempty"` // bytes; set if a process was killed because of it
}

// Failure describes how a set-up command failed, and its output.
type Failure struct {
	Exit
	Output []byte
}

// Timing is the stored form of a run's measurements.
type Timing struct {
	Seconds   float64 `json:"seconds"`             // of the program
	Isolation string  `json:"isolation,omitempty"` // see backend.Capabilities
	Import    string  `json:"import,omitempty"`    // see verdict.Measurements
}

// Keep selects the workspaces that are kept for the user.
type Keep string

const (
	KeepNever  Keep = "never"
	KeepFailed Keep = "failed" // the program failed, was not run, or the run broke
	KeepAlways Keep = "always"
)
