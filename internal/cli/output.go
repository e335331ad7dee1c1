package cli

import (
	"io"
	"sync"

	"github.com/fevalgraph/fevalgraph/view"
)

// output is a standard output that remembers its first error. Commands print in many places, and most of
// these cannot return one.
type output struct {
	w io.Writer

	mu     sync.Mutex
	failed error
}

// watched returns w as an output, unless it is a terminal, whose size views look up.
func watched(w io.Writer) io.Writer {
	if _, terminal := view.Terminal(w); terminal {
		return w
	}
	return &output{w: w}
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.failed == nil {
			o.failed = err
		}
	}
	return n, err
}

// lostOutput returns the first error of the standard output.
func (a *app) lostOutput() error {
	o, ok := underlyingWriter(a.io.Out).(*output)
	if !ok {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}
