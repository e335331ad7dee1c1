// Package exhaustion recognizes errors of a machine that ran out of a resource. The file or program itself may
// be fine.
package exhaustion

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// Is reports whether the machine, or a limit of the user, ran out of open files, processes, memory or space.
func Is(err error) bool { return Hint(err) != "" }

// IsOwn reports whether this process reached its own limit on open files. Other processes cannot have
// caused that.
func IsOwn(err error) bool { return errors.Is(err, syscall.EMFILE) }

// hints lists remedies by error.
var hints = []struct {
	errno syscall.Errno
	hint  string
}{
	{syscall.EMFILE, "raise the limit on open files, `ulimit -n`, or run fewer nodes at once: -j"},
	{syscall.ENFILE, "the machine's limit on open files, fs.file-max, is reached: raise it, or end the programs that hold them"},
	{syscall.EAGAIN, "the limit on processes is reached: raise it, or run fewer nodes at once: -j"},
	{syscall.ENOMEM, "the machine has no memory left: run fewer nodes at once: -j"},
	{syscall.ENOSPC, fullHint},
	{syscall.EDQUOT, fullHint},
}

const fullHint = "a file system is full: free some space, for example by `fevalgraph cache gc --max-size 5GiB`, or set TMPDIR or FEVALGRAPH_CACHE_DIR"

// Hint returns what a user can do about such an error; "" for any other.
func Hint(err error) string {
	for _, h := range hints {
		if errors.Is(err, h.errno) {
			return h.hint
		}
	}
	return ""
}

// Named returns an error that another program reported as text. If the text ends with one of these system
// errors, the result wraps it.
func Named(err error) error {
	for _, h := range hints {
		if text, ok := strings.CutSuffix(err.Error(), h.errno.Error()); ok {
			return fmt.Errorf("%s%w", text, h.errno)
		}
	}
	return err
}
