package local

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// drainWait is how long an ended command's pipe may stay silent before it
	// is given up: only a process that got away still holds it then.
	drainWait = time.Second

	// drainLimit bounds what such a process can still add, in bytes. It is
	// the most that a pipe holds by default.
	drainLimit = 1 << 20

	copyBuffer = 32 << 10
)

var copyBuffers = sync.Pool{New: func() any { return new([copyBuffer]byte) }}

// output copies a command's pipe to the caller's writer, independently of the
// command's end.
type output struct {
	pipe  *os.File // reading end
	w     io.Writer
	ended atomic.Bool
	done  chan error
}

// newOutput returns the copier and the end of the pipe for the command. The
// caller closes that end once the command has it.
func newOutput(w io.Writer) (*output, *os.File, error) {
	r, command, err := pipe()
	if err != nil {
		return nil, nil, err
	}
	if w == nil {
		w = io.Discard
	}
	o := &output{pipe: r, w: w, done: make(chan error, 1)}
	go func() { o.done <- o.copy() }()
	return o, command, nil
}

// finish is called once everything that writes has ended. It returns when
// what was written has been passed on, with the writer's first error.
func (o *output) finish() error {
	o.ended.Store(true)
	_ = o.pipe.SetReadDeadline(time.Now().Add(drainWait)) // wakes a waiting read
	err := <-o.done
	return errors.Join(err, o.pipe.Close())
}

// copy runs until the pipe ends. After an error of the writer it goes on
// reading, so that the command is neither blocked nor sent a SIGPIPE by a
// full disk of ours.
func (o *output) copy() error {
	buffer := copyBuffers.Get().(*[copyBuffer]byte)
	defer copyBuffers.Put(buffer)
	var failed error
	for drained := 0; drained < drainLimit; {
		ended := o.ended.Load()
		if ended {
			_ = o.pipe.SetReadDeadline(time.Now().Add(drainWait))
		}
		n, err := o.pipe.Read(buffer[:])
		if n > 0 && failed == nil {
			_, failed = o.w.Write(buffer[:n])
		}
		if ended {
			drained += n
		}
		// A deadline that finish set during a slow Write says nothing about
		// the pipe; one that was set just before the read does.
		if err != nil && (ended || !errors.Is(err, os.ErrDeadlineExceeded)) {
			break
		}
	}
	return failed
}
