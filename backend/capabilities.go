package backend

import "context"

// Capabilities describes the optional abilities of a backend. A zero field means that the backend lacks
// the ability. Returning Capabilities is free, and they never change; the functions in them can query the
// backend's machine.
type Capabilities struct {
	// Python is the interpreter that the identity names.
	Python Python
	// OwnFiles reports that commands see other files than those of this machine, such as those of an image, so
	// that only a session can read or run the interpreter.
	OwnFiles bool
	// BareIdentity returns the identity of commands that need no Python, for a backend that can determine it
	// without looking for an interpreter.
	BareIdentity func(ctx context.Context) (Identity, error)
	// Programs returns a field for each word of commands that names a program where the commands run. It is
	// nil for a backend whose identity covers every program, such as that of an image.
	Programs func(ctx context.Context, words []string) (Identity, error)
	// Shown returns the files and directories of this machine that commands can read only because the
	// configuration names them: paths of the backend's block, and paths in lines of commands and in values of
	// variables. It is nil for a backend whose commands do not see this machine's files.
	Shown func(lines, values []string) []Shown
	// Images builds the image that commands run in.
	Images ImageBuilder
	// Isolation returns the isolation level of the commands of sessions; see Level.
	Isolation func() string
	// GPU returns an *AbsentError if commands would see no GPU. It is nil for a backend that assigns GPUs to
	// its commands.
	GPU func(ctx context.Context) error
	// RemoteHost is the name of the machine that commands run on; "" means this machine.
	RemoteHost func() string
	// Places returns an error if sessions cannot have Places on this machine; nil means that they can. Their
	// sessions are Listers.
	Places func(ctx context.Context) error
	// Attach reports that a Command can be attached to the caller's terminal.
	Attach bool
	// Keep makes Close leave a session's workspace for inspection by the user, and ends everything in it. It
	// must be called between two Execs or after the last. how is the command that opens the workspace for the
	// user; if it is "", there is nothing to keep and Close removes everything as usual.
	Keep func(ctx context.Context, s Session) (how string, err error)
}

// Shown is a file or directory of this machine that commands can read. Name is its name in the
// configuration, and Path its absolute path, which need not exist.
type Shown struct{ Name, Path string }

// Level returns the isolation level of commands as shown in results: "full", "partial" or "none". It
// returns "" for a kind of backend without levels.
func (c Capabilities) Level() string {
	if c.Isolation == nil {
		return ""
	}
	return c.Isolation()
}

// Shielded reports whether commands cannot change the files of this machine that they see.
func (c Capabilities) Shielded() bool { return c.Level() != "" && c.Level() != "none" }

// VersionArgs make a Python interpreter print its implementation and version, as Python.Interpreter
// returns them. The module platform prints the same in more than twice the time.
var VersionArgs = []string{"-I", "-S", "-c", `import sys
name = sys.implementation.name
print({"cpython": "CPython", "pypy": "PyPy"}.get(name, name), sys.version.split()[0])`}

// Python is the interpreter of a backend's commands. It is safe for concurrent use.
type Python interface {
	// Interpreter returns the path of the interpreter where commands run, and its
	// implementation and version: "CPython 3.11.7".
	Interpreter(ctx context.Context) (path, version string, err error)
	// Platform returns the platform of the interpreter: "linux/amd64".
	Platform(ctx context.Context) (string, error)
}
