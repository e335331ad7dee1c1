// Package exhaustion knows the errors of a machine that has nothing left of something.
// What was to be read or started may be fine.
package exhaustion

import (
	"errors"
	"syscall"
)

// Is reports whether the machine, or the limits of the user, had no open files, processes,
// memory or space left.
func Is(err error) bool { return Hint(err) != "" }

// Hint is what a person can do about such an error; "" for any other.
func Hint(err error) string {
	switch {
	case errors.Is(err, syscall.EMFILE):
		return "raise the limit on open files, `ulimit -n`, or run fewer nodes at once: -j"
	case errors.Is(err, syscall.ENFILE):
		return "the machine's limit on open files, fs.file-max, is reached: raise it, or end what holds them"
	case errors.Is(err, syscall.EAGAIN):
		return "the limit on processes is reached: raise it, or run fewer nodes at once: -j"
	case errors.Is(err, syscall.ENOMEM):
		return "the machine has no memory left: run fewer nodes at once: -j"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "a file system is full: free some space, or set TMPDIR or FEVALGRAPH_CACHE_DIR"
	}
	return ""
}
