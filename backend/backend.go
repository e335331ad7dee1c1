package backend

import (
	"context"
	"io"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Field is a labelled fact of an identity. The backend fixes the order.
type Field struct{ Label, Value string }

// Identity lists what of a backend can change an outcome: platform, interpreter, image digest. It enters the
// keys of nodes that run there.
type Identity []Field

// Backend runs commands. Methods are safe for concurrent use.
type Backend interface {
	// Identity resolves what enters keys. It can run programs; callers ask
	// once per run and backend.
	Identity(ctx context.Context) (Identity, error)
	// Network returns what commands with Ports get. It finds out once, at little
	// cost, and never changes its mind.
	Network() Network
	// Capabilities returns what else the backend can do.
	Capabilities() Capabilities
	// Prepare runs a command that fetches what the commands of many sessions need, Online and in a separate
	// workspace. Where sessions share files outside of their workspaces, they share what it leaves there.
	// Elsewhere it becomes a snapshot, which their Spec names; a command that does not exit with 0 leaves no
	// snapshot. name must cover everything about cmd that can change what it fetches: a backend can answer
	// from an earlier Prepare.
	Prepare(ctx context.Context, name string, cmd Command) (snapshot string, exit Exit, err error)
	// Open makes a workspace with the inputs of spec in it. The caller must
	// Close the session, even after errors.
	Open(ctx context.Context, spec Spec) (Session, error)
}

// Session is a workspace. It is used by one goroutine at a time.
type Session interface {
	// Dir is the workspace's absolute path as the commands see it.
	Dir() string
	// Place puts further inputs into the workspace, in order, like those of
	// the Spec: what programs left in their way gives way.
	Place(ctx context.Context, inputs ...Input) error
	// Exec runs one command to its end or to its limit and ends everything
	// that the command started. Cancelling ctx ends it early with ctx's cause.
	Exec(ctx context.Context, cmd Command) (Exit, error)
	// Collect opens a regular file of the workspace, given by a slash-separated
	// path relative to Dir, after following no symlinks. A file that is not
	// there is fs.ErrNotExist; anything there but a regular file is
	// ErrNotRegular.
	Collect(ctx context.Context, path string) (io.ReadCloser, error)
	// Verify checks, after a command that ended badly, whether the machine did its part: the workspace is
	// the created one, its file system has room, and the kernel neither killed a process for lack of
	// memory nor denied one since the session was opened. An error means that no verdict can rest on what
	// the commands did. A session's own memory limit is reported by the Exit.
	Verify(ctx context.Context) error
	// Close ends every process of the session and removes the workspace. It
	// is idempotent, bounded in time, and runs to its end on a cancelled ctx.
	Close(ctx context.Context) error
}

// Spec describes a workspace.
type Spec struct {
	Name     string  // for users and registries: the node's address
	Inputs   []Input // placed in order; later ones win
	Snapshot string  // what Prepare returned; empty for none
	// Isolated reports that no other work of the execution runs next to the session. A file system that the
	// session's own files fill does not spoil it then.
	Isolated bool
	// ReadOnly are files and directories of the workspace, relative to it, that only Online commands can
	// change, where the backend supports that. In a container Online commands cannot change them, either,
	// and what does not exist yet is an empty directory to them.
	ReadOnly []string
	// Places are parts of the workspace that commands see at absolute paths. With some, the rest of the
	// workspace is invisible: Dir is empty, or missing. It requires the capability Places.
	Places []Place
}

// Place is a file or directory of a workspace that commands see elsewhere, instead of what
// is there.
type Place struct {
	Path string // relative to the workspace; no symlink leads to it
	At   string // absolute, clean, below the root; in no other place
}

// Lister is a Session that knows what files there are.
type Lister interface {
	// List returns the paths, relative to the workspace, of all regular files below a
	// directory of it, sorted. More than most are ErrManyFiles. Like Collect it follows no
	// symlinks.
	List(ctx context.Context, dir string, most int) ([]string, error)
}

// Input is a tree of the content store, or one file, at a place in the
// workspace.
type Input struct {
	Path    string       // slash-separated, relative to the workspace; "" or "." is its root
	Tree    cache.Digest // a REAPI Directory; zero when Content is used
	Content []byte       // a regular file at Path
	// Replace first removes what earlier inputs left at Path, even a
	// symlink or a directory.
	Replace bool
}

// Command is a program to run in a session.
type Command struct {
	// Argv[0] is looked up in PATH of Env, or, with a slash, is relative to
	// the directory that the command runs in. A program that cannot be
	// started is an error, a *ToolError, and no Exit.
	Argv []string
	// Env is KEY=value, complete: nothing is inherited. The session adds HOME and TMPDIR, private
	// directories, unless Env sets them or, in a container, the Spec has Places, and marks whose names begin
	// with FEVALGRAPH_. In a container Env overrides what the image sets, which is part of the image's
	// identity.
	Env []string
	Dir string // relative to the workspace
	// At is the absolute path of the directory to run in, instead of Dir, where the
	// Spec has Places. "." is the image's own or, without an image, the root.
	At      string
	Timeout time.Duration // 0 means no limit
	// Ports are ports at loopback addresses on which the program, or what it starts, listens. While it runs
	// no other command with such a port, of any process on the machine, can reach or take them. Network
	// tells how; waiting for a port is not part of the Timeout.
	Ports  []int
	Output io.Writer // stdout and stderr, interleaved; nil discards
	// Errors takes stderr apart, and Output stdout alone; nil does not part
	// them. It is written to at the same time as Output.
	Errors io.Writer
	// Notes takes what the session itself has to say, line by line, such as
	// what it waits for; nil discards.
	Notes io.Writer
	// Online reports that the command fetches what later ones need, and can use
	// the network also where the backend keeps it from others.
	Online bool
	// Offline restricts the command to a private loopback, regardless of the backend's network. Where that is
	// impossible, running it is an error.
	Offline bool
	// Attach connects the caller's terminal instead of Output, on a backend with
	// that capability. Stdin is otherwise closed.
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
	// OOM reports that the session reached the memory limit of its backend and
	// something in it was killed for that. OOMLimit is that limit, in bytes.
	OOM      bool
	OOMLimit int64
}
