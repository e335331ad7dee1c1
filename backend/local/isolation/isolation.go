// Package isolation starts a program so that it sees and reaches little of the machine.
//
// At level Full the program runs in separate namespaces: it sees the files that a View lists, no process but
// those it starts itself, and no abstract socket of others where the kernel has scopes, and it has no
// capabilities. Everything it started ends with it, or with the process that called for it. At level
// Partial, for machines that refuse namespaces, Landlock restricts it to the same files, and protects the
// memory and, with Linux 6.12, blocks signals, of processes that it did not start. At both levels it lacks
// the system calls of package seccomp.
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

// Level describes how much a program is kept from.
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
	// ReadOnly are files and directories that it sees, where they exist, but cannot change.
	ReadOnly []Place
	// Hidden are files and directories that are empty for it where they lie below one of
	// ReadOnly. With Partial they are as that is.
	Hidden []string
	// Writable are directories that are the program's own, and visible regardless of Hidden.
	Writable []string
	// Places are files and directories that are the program's own, too, where it sees them. They
	// take Full.
	Places []Place
	// Overlays are directories that it can change without an effect for other processes. With Partial they
	// are Writable.
	Overlays []Overlay
	// Temp is one of the directories below Writable, and appears as /tmp and /var/tmp. With Partial these
	// two are out of reach.
	Temp string
	// PrivateNetwork gives a private network, with a loopback alone. It takes Full.
	PrivateNetwork bool
}

// Place is a file or directory of this machine, and where a program sees it. With Partial
// it sees it where it is.
type Place struct{ Source, Target string }

// Overlay is a directory of which a program has a private copy.
type Overlay struct {
	Lower  string // what it shows at first
	Target string // where
	// Changes is a directory that keeps what is changed, for later programs with the same
	// overlay. Without one it is forgotten.
	Changes string
}

// WhenNotBusy starts a program. A program that was just written can be busy for a moment in which another
// thread or process, about to start something else, still has the file open, so ETXTBSY is tried again.
func WhenNotBusy(start func() error) error {
	busy := func(err error) bool { return errors.Is(err, syscall.ETXTBSY) }
	return retry.Patience{For: 2 * time.Second, Pause: time.Millisecond, Longest: time.Second}.Do(context.Background(), busy, start)
}

// StartError reports that a program could not be started although its isolation was ready.
type StartError struct{ Err error }

func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }
