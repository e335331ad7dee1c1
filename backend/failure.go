package backend

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
)

// ErrNotRegular is returned by Collect, wrapped, for a symlink, directory, FIFO, socket or device, and for
// a path that leads through a symlink. It is caused by the session's commands, not by the infrastructure.
var ErrNotRegular = errors.New("not a regular file")

// ErrManyFiles is returned, wrapped, by a List that finds more files than requested or reads too
// many bytes.
var ErrManyFiles = errors.New("too many files")

// ErrNoRoom is returned, wrapped, by a Sandbox if the Files do not fit into a program's directory.
var ErrNoRoom = errors.New("the files are larger than the program's directory")

// ErrSpoiled matches errors of Verify that the commands of the session can have caused.
var ErrSpoiled = errors.New("possibly caused by the session's commands")

// Spoiled returns err, unless it is nil, as an error that matches ErrSpoiled.
func Spoiled(err error) error {
	if err == nil {
		return nil
	}
	return spoiledError{err}
}

type spoiledError struct{ error }

func (e spoiledError) Unwrap() error        { return e.error }
func (e spoiledError) Is(target error) bool { return target == ErrSpoiled }

// ToolError reports that a program that the backend needs is missing or does not work, and how to fix
// that. It makes a node broken, and never becomes a verdict.
type ToolError struct {
	Tool string // as requested: "uv", "uvx", "./run.sh"
	Err  error
	Hint string // what the user can do; can be empty
}

// Error includes the hint, since often only the message is shown. If the machine was exhausted, the hint
// is about that.
func (e *ToolError) Error() string {
	hint := cmp.Or(exhaustion.Hint(e.Err), e.Hint)
	if hint == "" {
		return fmt.Sprintf("%s: %v", e.Tool, e.Err)
	}
	first, rest, _ := strings.Cut(fmt.Sprint(e.Err), "\n") // messages shown in one line omit the rest
	return strings.TrimSuffix(fmt.Sprintf("%s: %s (hint: %s)\n%s", e.Tool, first, hint, rest), "\n")
}

// Unwrap returns the reason.
func (e *ToolError) Unwrap() error { return e.Err }

// SettingError reports an invalid attribute of the backend's configuration that only the backend's machine
// could detect. The user must fix it; a retry cannot help.
type SettingError struct {
	Setting string // the attribute: "user"
	Err     error
	Hint    string // what to write; can be empty
}

// Error includes the hint.
func (e *SettingError) Error() string {
	if e.Hint == "" {
		return fmt.Sprintf("%s: %v", e.Setting, e.Err)
	}
	return fmt.Sprintf("%s: %v (hint: %s)", e.Setting, e.Err, e.Hint)
}

// Unwrap returns the reason.
func (e *SettingError) Unwrap() error { return e.Err }

// AbsentError reports that the backend's machine lacks a device that the configuration requires. Nodes
// that need it are skipped.
type AbsentError struct {
	Device string // "GPU"
	Err    error
}

// Error implements error.
func (e *AbsentError) Error() string { return fmt.Sprintf("no such %s here: %v", e.Device, e.Err) }

// Unwrap returns the reason.
func (e *AbsentError) Unwrap() error { return e.Err }

// PreemptedError reports that the machine which ran a command was taken away: a spot instance was preempted,
// or a node was lost. The command is not at fault, and can run again on another machine.
type PreemptedError struct{ Err error }

// Error implements error.
func (e *PreemptedError) Error() string { return fmt.Sprintf("the machine was taken away: %v", e.Err) }

// Unwrap returns the reason.
func (e *PreemptedError) Unwrap() error { return e.Err }
