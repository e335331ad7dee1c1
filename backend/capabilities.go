package backend

import "context"

// Capabilities describe what a backend can do beyond what every Backend does. A zero field means that it
// cannot. Capabilities cost nothing and never change; the functions in them can query the backend's machine.
type Capabilities struct {
	// Python is the interpreter that the identity names.
	Python Python
	// OwnFiles reports that commands do not see this machine's files, but for example those of an image:
	// only a session can read or run the interpreter.
	OwnFiles bool
	// BareIdentity is the identity of commands that need no Python, for a
	// backend that can tell it without looking for an interpreter.
	BareIdentity func(ctx context.Context) (Identity, error)
	// Programs identifies the words of commands that name programs where the commands run; other words have
	// no field. It is nil for a backend whose identity covers every program, such as that of an image.
	Programs func(ctx context.Context, words []string) (Identity, error)
	// Shown returns the files and directories of this machine that commands can read only
	// because the configuration names them: paths of the backend's block, and paths in
	// lines of commands and in values of variables. A backend whose commands do not see
	// this machine's files lacks it.
	Shown func(lines, values []string) []Shown
	// Images makes the image that commands run in.
	Images ImageBuilder
	// Isolation returns how much the commands of sessions are kept from; see Level.
	Isolation func() string
	// GPU returns an *AbsentError when commands would see no GPU. A backend
	// that gives its commands GPUs, rather than what the machine has, lacks it.
	GPU func(ctx context.Context) error
	// RemoteHost names the machine that commands run on; "" is this one.
	RemoteHost func() string
	// Places returns an error if sessions cannot have Places on this machine; nil means that they can. Their
	// sessions are Listers.
	Places func(ctx context.Context) error
	// Attach reports that a Command can be attached to the caller's terminal.
	Attach bool
	// Keep makes Close leave a session's workspace for inspection by the user,
	// and ends everything in it. It is called between two Execs or after the last.
	// how is the command by which the user enters it; it is empty when there is
	// nothing to enter, and then Close removes all as ever.
	Keep func(ctx context.Context, s Session) (how string, err error)
}

// Shown is a file or directory of this machine that commands can read. Name is the text
// of the configuration, and Path the absolute path, which need not exist.
type Shown struct{ Name, Path string }

// Level returns how far commands are isolated, as results show it: "full", "partial" or "none". It returns
// "" for a kind of backend without levels.
func (c Capabilities) Level() string {
	if c.Isolation == nil {
		return ""
	}
	return c.Isolation()
}

// Shielded reports whether commands cannot change the files of this machine that they see.
func (c Capabilities) Shielded() bool { return c.Level() != "" && c.Level() != "none" }

// VersionArgs are arguments with which a Python interpreter prints its implementation and version, as
// Python.Interpreter returns them. The module platform prints the same in more than twice the time.
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
