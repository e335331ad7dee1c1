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
	// drainWait limits how long the pipe of an ended command can be silent before it is abandoned: then only
	// an escaped process still holds it.
	drainWait = time.Second

	// drainLimit limits how many bytes such a process can still add. It is the default capacity of a pipe.
	drainLimit = 1 << 20

	copyBuffer = 32 << 10
)

var copyBuffers = sync.Pool{New: func() any { return new([copyBuffer]byte) }}

// output copies the output of a command to the caller's writer.
type output struct {
	pipe    *os.File // reading end
	command *os.File // writing end, for the command
	w       io.Writer
	ended   bool  // the end of the pipe was reached
	failed  error // first error of the writer
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

// watch copies output until the main process has ended, as p.ended shows. A single goroutine waits for
// everything in one system call: more goroutines would have to be woken for each command.
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
				files[i+1].Fd = -1 // poll ignores it
			}
		}
		if files[0].Revents != 0 {
			return nil
		}
	}
}

// poll waits until one of the files can be read or has ended, and returns their number; a negative limit
// means no limit.
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

// pass copies one chunk and returns its length. After an error of the writer it continues reading, so that
// a full disk on our side neither blocks the command nor sends it a SIGPIPE.
func (o *output) pass(buffer []byte) int {
	n, err := o.pipe.Read(buffer)
	o.ended = err != nil
	if n > 0 && o.failed == nil {
		_, o.failed = o.w.Write(buffer[:n])
	}
	return n
}

// finish waits until all output was copied, and returns the writer's first error. It must be called after
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
