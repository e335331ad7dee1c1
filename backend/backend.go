package backend

import (
	"context"
	"io"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Field is a labelled fact of an identity. The backend fixes the order.
type Field struct{ Label, Value string }

// Identity lists the properties of a backend that can change an outcome: platform, interpreter, image
// digest. It enters the keys of nodes that run there.
type Identity []Field

// Backend runs commands. Methods are safe for concurrent use.
type Backend interface {
	// Identity returns the part of keys that depends on the backend. It can run programs; callers ask once per
	// run and backend.
	Identity(ctx context.Context) (Identity, error)
	// Network returns the network of commands with Ports. The answer is cheap to determine and never changes.
	Network() Network
	// Capabilities returns the backend's optional abilities.
	Capabilities() Capabilities
	// Prepare runs a command, Online and in a separate workspace, that fetches files for the commands of many
	// sessions. If sessions share directories outside of their workspaces, the files stay there. Otherwise
	// they become a snapshot, which the Spec of a session names; a command that does not exit with 0 leaves no
	// snapshot. name must identify everything in cmd that can change the fetched files: a backend can return
	// the result of an earlier Prepare with the same name.
	Prepare(ctx context.Context, name string, cmd Command) (snapshot string, exit Exit, err error)
	// Open creates a workspace that contains the inputs of spec. The caller must Close the session, even after
	// errors.
	Open(ctx context.Context, spec Spec) (Session, error)
}

// Session is a workspace. It must be used by one goroutine at a time.
type Session interface {
	// Dir is the workspace's absolute path as the commands see it.
	Dir() string
	// Place adds inputs to the workspace, in order, like those of the Spec. It replaces files that programs
	// left at their paths.
	Place(ctx context.Context, inputs ...Input) error
	// Exec runs a command until it exits or reaches its limit, and ends all processes that the command
	// started. Cancelling ctx ends it early with ctx's cause.
	Exec(ctx context.Context, cmd Command) (Exit, error)
	// Collect opens a regular file of the workspace, given by a slash-separated path relative to Dir, after
	// following no symlinks. A missing file is fs.ErrNotExist, and anything but a regular file is
	// ErrNotRegular.
	Collect(ctx context.Context, path string) (io.ReadCloser, error)
	// Verify checks, after a command that ended badly, whether the machine worked: the workspace was not
	// replaced, its file system has room, and since the session was opened the kernel has neither killed a
	// process for lack of memory nor refused to create one. After an error, the commands' results must not
	// decide a verdict. Exit reports when a session reached its own memory limit.
	Verify(ctx context.Context) error
	// Close ends every process of the session and removes the workspace. It
	// is idempotent, bounded in time, and runs to its end on a cancelled ctx.
	Close(ctx context.Context) error
}

// Spec describes a workspace.
type Spec struct {
	Name     string  // address of the node, for users and registries
	Inputs   []Input // placed in order; later ones win
	Snapshot string  // as returned by Prepare; "" means none
	// Isolated reports that no other work of the execution runs next to the session. A file system that only
	// the session's own files fill is then no failure of the machine.
	Isolated bool
	// ReadOnly lists files and directories, relative to the workspace, that only Online commands can change,
	// if the backend supports that. In a container, Online commands cannot change them either, and commands
	// see a missing one as an empty directory.
	ReadOnly []string
	// Places lists parts of the workspace that commands see at absolute paths. If there are any, the rest of
	// the workspace is invisible: Dir is empty or missing. This requires the capability Places.
	Places []Place
}

// Place maps a file or directory of a workspace to another path, where it hides existing files.
type Place struct {
	Path string // relative to the workspace; no symlink leads to it
	At   string // absolute, clean, below the root, not inside another place
}

// Lister is a Session that can list its files.
type Lister interface {
	// List returns the paths, relative to the workspace, of all regular files below a directory of it, sorted.
	// It returns ErrManyFiles if there are more than most. Like Collect it follows no symlinks.
	List(ctx context.Context, dir string, most int) ([]string, error)
}

// Input is a tree or a file of the content store, with its path in the workspace.
type Input struct {
	Path    string       // slash-separated, relative to the workspace; "" or "." is its root
	Tree    cache.Digest // a REAPI Directory; zero when Content is used
	Content []byte       // content of a regular file at Path
	// Replace removes existing files at Path first, even a symlink or a directory.
	Replace bool
}

// Command is a program to run in a session.
type Command struct {
	// Argv[0] is looked up in PATH of Env or, if it contains a slash, relative to the directory that the
	// command runs in. If the program cannot be started, Exec returns a *ToolError.
	Argv []string
	// Env is the complete environment, as KEY=value: nothing is inherited. The session adds variables whose
	// names begin with FEVALGRAPH_, and sets HOME and TMPDIR to private directories unless Env sets them or,
	// in a container, the Spec has Places. In a container, Env overrides variables of the image, which are
	// part of the image's identity.
	Env []string
	Dir string // relative to the workspace
	// At is the absolute path of the directory to run in, instead of Dir, if the Spec has Places. "." means
	// the working directory of the image or, without an image, the root.
	At      string
	Timeout time.Duration // 0 means no limit
	// Ports are loopback ports on which the program or its children listen. While the command runs, no other
	// command on the machine that declares the same port can use it; see Network. The Timeout does not include
	// waiting for a port.
	Ports  []int
	Output io.Writer // stdout and stderr, interleaved; nil discards
	// Errors receives stderr, so that Output receives only stdout; nil sends both to Output. It is written to
	// concurrently with Output.
	Errors io.Writer
	// Notes receives messages of the session itself, line by line, such as what it is waiting for; nil
	// discards them.
	Notes io.Writer
	// Online permits the network even if the backend denies it to other commands: the command fetches files
	// for later ones.
	Online bool
	// Offline restricts the command to a private loopback, regardless of the backend's network. If that is
	// impossible, Exec returns an error.
	Offline bool
	// Prepares is the directory that a command of Prepare fills, if sessions share directories outside of their
	// workspaces. It must contain nothing else. If its content changes later, it is prepared again; until then,
	// commands that name it fail with a *ToolError.
	Prepares string
	// Attach connects the command to the caller's terminal instead of Output, on a backend with that
	// capability. Otherwise, stdin is closed.
	Attach bool
}

// Exit describes how a program ended.
type Exit struct {
	Code     int    // exit status; -1 if a signal ended it
	Signal   string // "killed", "segmentation fault" ...; empty when it exited
	TimedOut bool   // Timeout ended it
	Seconds  float64
	// Stopped reports that a signal had stopped the program when Timeout ended it.
	Stopped bool
	// OOM reports that the session reached the memory limit of its backend, and that a process was killed
	// because of it. OOMLimit is the limit in bytes.
	OOM      bool
	OOMLimit int64
}

// Succeeded reports whether the program exited with status 0 on its own, within all limits.
func (x Exit) Succeeded() bool { return x == Exit{Seconds: x.Seconds} }
