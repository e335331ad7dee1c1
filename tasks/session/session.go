// Package session does the work of a node in a workspace of a backend.
//
// Run opens a workspace, hands it to the task as a Session, and closes it. The task calls, in this
// order, SetUp for each set-up command, Place for files that set-up must not change, and Execute for
// the program that is judged. Execute masks secrets in what the program prints, and then verifies the
// machine and the inputs, so what it returns can be the base of a verdict.
//
// An error means that nothing can be concluded from the work: the machine, the backend or the problem
// is at fault. What the submission might have done is never an error. If it is unclear who is at fault,
// the task returns the error of Session.Again, and Run does the work once more in a new workspace.
//
// Beside it stands what every task says of its work: the Environment of commands, whose variables
// enter keys by value, by the name of a secret, or not at all; a Keeper, which stores outputs, and
// ReadInput, which reads those of dependencies; and what errors and exits of a backend mean, to the
// engine (WithClass, Blame, Doubtful) and in words (Words, LastLine, OutOfMemory).
package session

import (
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
)

// Plan describes the workspace of a node and who can be asked about it.
type Plan struct {
	Backend backend.Backend
	Spec    backend.Spec // its Name is the address of the node
	Env     Environment  // its secrets are masked
	Machine *Machine
	// Submitted reports that programs of a submission run in the workspace. It is refused if the machine
	// fails by what they can have done even though nothing of this run is beside them.
	Submitted bool
	// SetupTimeout limits all set-up commands together; 0 means no limit.
	SetupTimeout time.Duration
	// VerifyInputs report inputs that were read in place and no longer have the content that the key
	// names.
	VerifyInputs []func() error
	// Within starts a program in an environment of the workspace dir; nil starts it as it is.
	Within func(dir string, argv []string) []string
	Keep   Keep
}

// Step is a set-up command.
type Step struct {
	Line      string   // for a shell, for logs and for messages
	Directory string   // relative to the workspace
	Argv      []string // runs instead of Line, without Plan.Within
	Env       []string // nil means Plan.Env.Preparing
	// Explain returns the error of a failure that is the problem's fault; nil explains none.
	Explain func(backend.Exit) error
}

// Program is the command that is judged. The Session sets its Output, Errors and Notes.
type Program struct {
	Name string // in messages: "the verifier"
	backend.Command
	Split bool // keep stdout and stderr apart
	// TrustSuccess reports that an exit code of 0 proves that the machine did its part.
	TrustSuccess bool
}

// Printed is the output of a program, and how it ended. Raw text has its secrets.
type Printed struct {
	backend.Exit
	Output, Errors       []byte // Errors only of a Program with Split
	RawOutput, RawErrors []byte
}

// Exit is the stored form of how a program, or a set-up command that failed, ended.
type Exit struct {
	Setup       string  `json:"setup,omitempty"` // the set-up command
	Code        int     `json:"code"`
	Signal      string  `json:"signal,omitempty"`
	TimedOut    bool    `json:"timed_out,omitempty"`
	Limit       float64 `json:"limit,omitempty"`        // seconds
	MemoryLimit int64   `json:"memory_limit,omitempty"` // bytes; set if something was killed for it
}

// Failure describes how a set-up command failed, and its output.
type Failure struct {
	Exit
	Output []byte
}

// Timing is the stored form of what a run took and where it ran.
type Timing struct {
	Seconds   float64 `json:"seconds"`             // of the program
	Isolation string  `json:"isolation,omitempty"` // see backend.Capabilities
	Import    string  `json:"import,omitempty"`    // see verdict.Measurements
}

// Keep selects the workspaces that stay for the user to enter.
type Keep string

const (
	KeepNever  Keep = "never"
	KeepFailed Keep = "failed" // the program failed, was not run, or the run broke
	KeepAlways Keep = "always"
)
