//go:build unix

package local

import (
	"os"

	"golang.org/x/sys/unix"
)

// hasEnded reports whether the process has ended. It must not be called after reap.
func (p *process) hasEnded() bool {
	n, err := poll([]unix.PollFd{toRead(p.ended)}, 0)
	return err == nil && n > 0
}

// endOf calls wait in a goroutine and returns a file that reaches its end when
// wait has returned, for systems without such a file for each process.
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
