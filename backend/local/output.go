//go:build unix

package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// drainWait limits how long an ended command's pipe can stay silent before it is given up: only a
	// process that got away still holds it then.
	drainWait = time.Second

	// drainLimit bounds what such a process can still add, in bytes. It is
	// the most that a pipe holds by default.
	drainLimit = 1 << 20

	copyBuffer = 32 << 10
)

var copyBuffers = sync.Pool{New: func() any { return new([copyBuffer]byte) }}

// output passes on what a command writes to the caller's writer.
type output struct {
	pipe    *os.File // reading end
	command *os.File // writing end, the command's
	w       io.Writer
	ended   bool  // nothing more can come
	failed  error // the writer's first
}

func newOutput(w io.Writer) (*output, error) {
	r, command, err := pipe()
	if err != nil {
		return nil, err
	}
	if w == nil {
		w = io.Discard
	}
	return &output{pipe: r, command: command, w: w}, nil
}

// watch passes on what a command writes until its main process has ended, of which
// p.ended tells. It is one goroutine that waits, in one system call for everything:
// any more would have to be woken for each command.
func watch(p *process, outputs []*output) error {
	buffer := copyBuffers.Get().(*[copyBuffer]byte)
	defer copyBuffers.Put(buffer)
	files := []unix.PollFd{toRead(p.ended)}
	for _, o := range outputs {
		files = append(files, toRead(o.pipe))
	}
	for {
		if _, err := poll(files, -1); err != nil {
			return err
		}
		for i, o := range outputs {
			if files[i+1].Revents == 0 {
				continue
			}
			if o.pass(buffer[:]); o.ended {
				files[i+1].Fd = -1 // is not looked at any more
			}
		}
		if files[0].Revents != 0 {
			return nil
		}
	}
}

// poll waits until one of the files can be read or has ended, and returns how many;
// limit < 0 is as long as it takes.
func poll(files []unix.PollFd, limit time.Duration) (int, error) {
	for began := time.Now(); ; {
		left := -1 // milliseconds
		if limit >= 0 {
			left = max(int((limit - time.Since(began)).Milliseconds()), 0)
		}
		n, err := unix.Poll(files, left)
		if !errors.Is(err, unix.EINTR) {
			return n, os.NewSyscallError("poll", err)
		}
	}
}

func toRead(f *os.File) unix.PollFd { return unix.PollFd{Fd: int32(f.Fd()), Events: unix.POLLIN} }

// pass passes on one piece and returns its length. After an error of the writer it
// goes on reading, so that the command is neither blocked nor sent a SIGPIPE by a
// full disk of ours.
func (o *output) pass(buffer []byte) int {
	n, err := o.pipe.Read(buffer)
	o.ended = err != nil
	if n > 0 && o.failed == nil {
		_, o.failed = o.w.Write(buffer[:n])
	}
	return n
}

// finish waits until all output has been passed on, and returns the writer's first error. It is called once
// every writing process has ended.
func (o *output) finish() error {
	buffer := copyBuffers.Get().(*[copyBuffer]byte)
	defer copyBuffers.Put(buffer)
	o.command.Close()
	for drained := 0; drained < drainLimit && !o.ended; {
		ready, err := poll([]unix.PollFd{toRead(o.pipe)}, drainWait)
		if err != nil || ready == 0 {
			o.failed = errors.Join(o.failed, err)
			break
		}
		drained += o.pass(buffer[:])
	}
	return errors.Join(o.failed, o.pipe.Close())
}

// outputsOf returns the outputs of a command, separate if it has a writer for each.
func outputsOf(writers ...io.Writer) (outputs []*output, err error) {
	for _, w := range writers {
		o, err := newOutput(w)
		if err != nil {
			return nil, errors.Join(err, finish(outputs))
		}
		outputs = append(outputs, o)
	}
	return outputs, nil
}

func finish(outputs []*output) error {
	var failed error
	for _, o := range outputs {
		failed = errors.Join(failed, o.finish())
	}
	if failed != nil {
		return fmt.Errorf("keeping the output: %w", failed)
	}
	return nil
}
