//go:build unix

package local

import (
	"os"

	"golang.org/x/sys/unix"
)

// hasEnded reports whether the process has ended. It is not called after reap.
func (p *process) hasEnded() bool {
	n, err := poll([]unix.PollFd{toRead(p.ended)}, 0)
	return err == nil && n > 0
}

// endOf returns a file that is at its end once wait, which it calls in a goroutine,
// has returned: for systems that have no such file for a process.
func endOf(wait func()) (*os.File, error) {
	r, w, err := pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		defer w.Close()
		wait()
	}()
	return r, nil
}
