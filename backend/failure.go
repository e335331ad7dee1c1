package backend

import (
	"cmp"
	"errors"
	"fmt"
	"syscall"
)

// ErrNotRegular is what Collect returns, wrapped, for a symlink, directory,
// FIFO, socket or device, and for a path that leads through a symlink. It is
// the doing of whoever filled the workspace, not of the machinery.
var ErrNotRegular = errors.New("not a regular file")

// ToolError says that a program the backend needs is not there or does not
// work, and what to do about it. It means broken, never a verdict.
type ToolError struct {
	Tool string // as it was asked for: "uv", "uvx", "./run.sh"
	Err  error
	Hint string // what a person can do; may be empty
}

// Error includes the hint: it is often all that a person gets to see. A tool that the
// machine had nothing left to start with is no worse for that.
func (e *ToolError) Error() string {
	hint := cmp.Or(ExhaustedHint(e.Err), e.Hint)
	if hint == "" {
		return fmt.Sprintf("%s: %v", e.Tool, e.Err)
	}
	return fmt.Sprintf("%s: %v (hint: %s)", e.Tool, e.Err, hint)
}

// Unwrap returns the reason.
func (e *ToolError) Unwrap() error { return e.Err }

// ExhaustedHint is what a person can do about a start that failed because the machine
// had none left of something; "" for any other error.
func ExhaustedHint(err error) string {
	switch {
	case errors.Is(err, syscall.EMFILE):
		return "raise the limit on open files, `ulimit -n`, or run fewer nodes at once: -j"
	case errors.Is(err, syscall.ENFILE):
		return "the machine's limit on open files, fs.file-max, is reached: raise it, or end what holds them"
	case errors.Is(err, syscall.EAGAIN):
		return "the limit on processes is reached: raise it, or run fewer nodes at once: -j"
	case errors.Is(err, syscall.ENOMEM):
		return "the machine has no memory left: run fewer nodes at once: -j"
	}
	return ""
}

// SettingError says that an attribute of the backend's configuration cannot be
// meant, as far as that shows only where it runs. It is a person's to mend, so
// trying again cannot help.
type SettingError struct {
	Setting string // the attribute: "user"
	Err     error
	Hint    string // what to write; may be empty
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

// AbsentError says that the machine which a backend is on lacks a device that
// the configuration asks for. What needs it is skipped there.
type AbsentError struct {
	Device string // "GPU"
	Err    error
}

// Error implements error.
func (e *AbsentError) Error() string { return fmt.Sprintf("no such %s here: %v", e.Device, e.Err) }

// Unwrap returns the reason.
func (e *AbsentError) Unwrap() error { return e.Err }
