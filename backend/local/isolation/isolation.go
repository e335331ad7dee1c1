// Package isolation starts a program so that it sees and reaches little of the machine.
//
// At level Full the program runs in separate namespaces: it sees the files that a View lists, only
// processes that it starts itself and, if the kernel supports scopes, no abstract sockets of others, and
// it has no capabilities. All processes that it started end with it, or with the process that requested
// it. At level Partial, for machines that refuse namespaces, Landlock restricts it to the same files,
// protects the memory of processes that it did not start and, from Linux 6.12 on, blocks signals to them.
// At both levels, the system calls that package seccomp lists are denied.
//
// A program and its children have one user and are in one Landlock domain. A process that its children must
// not reach, by /proc/PID/mem or otherwise, has to start them in a nested domain. The filter allows the
// system calls for it.
//
// Namespaces are set up from within: Command starts this program's own file once more, or a Program, and an init
// function of this package takes over there before main does. A program that imports it needs nothing else. The
// caller learns through a pipe how the command ended; a StartError is a program that could not be started.
package isolation

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// Level is the degree of isolation of a program.
type Level string

// The levels, from the most to the least.
const (
	Full    Level = "full"
	Partial Level = "partial"
	None    Level = "none"
)

// Levels lists the names of levels.
func Levels() []string { return []string{string(Full), string(Partial), string(None)} }

// View lists what a program sees of this machine's files. All paths are absolute and clean, and those of
// this machine go through no symbolic link.
type View struct {
	// ReadOnly are files and directories that the program sees, if they exist, but cannot change.
	ReadOnly []Place
	// Hidden are files and directories below one of ReadOnly that appear empty. At level Partial, they are
	// visible like the rest of it.
	Hidden []string
	// Writable are directories that the program can change, visible regardless of Hidden.
	Writable []string
	// Places are files and directories that the program can change and sees at other paths. They require level
	// Full.
	Places []Place
	// Overlays are directories that the program can change without an effect on other processes. At level
	// Partial, they are Writable.
	Overlays []Overlay
	// Temp is one of the directories below Writable, and appears as /tmp and /var/tmp. At level Partial, these
	// two are inaccessible.
	Temp string
	// PrivateNetwork gives the program a private network with only a loopback. It requires level Full.
	PrivateNetwork bool
}

// Place maps a file or directory of this machine to the path where a program sees it. At level Partial,
// the program sees it at its original path.
type Place struct{ Source, Target string }

// Overlay is a directory of which a program has a private copy.
type Overlay struct {
	Lower  string // initial content
	Target string // path of the copy
	// Changes is a directory that keeps changes for later programs with the same overlay. "" discards changes.
	Changes string
}

// WhenNotBusy starts a program. It retries after ETXTBSY: a program that was just written can be busy for
// a moment, while another thread or process that is about to start a program still has the file open.
func WhenNotBusy(start func() error) error {
	busy := func(err error) bool { return errors.Is(err, syscall.ETXTBSY) }
	return retry.Patience{For: 2 * time.Second, Pause: time.Millisecond, Longest: time.Second}.Do(context.Background(), busy, start)
}

// StartError reports that a program could not be started although its isolation was ready.
type StartError struct{ Err error }

func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }
