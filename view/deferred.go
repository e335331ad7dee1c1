package view

import (
	"io"
	"os"
	"sync"

	"github.com/fevalgraph/fevalgraph/event"
)

// Deferred is a View that begins to draw with the first event: before that, errors of the configuration
// can be printed.
type Deferred struct {
	mode    Mode
	options Options

	mu   sync.Mutex // of Write
	view View       // nil before the first event
}

// NewDeferred returns a Deferred for mode.
func NewDeferred(mode Mode, o Options) *Deferred { return &Deferred{mode: mode, options: o} }

// Emit implements event.Sink.
func (d *Deferred) Emit(e event.Event) {
	if d.view == nil {
		v := New(d.mode, d.options)
		d.mu.Lock()
		d.view = v
		d.mu.Unlock()
	}
	d.view.Emit(e)
}

// Write writes whole lines to Options.Err, above the redrawn part. Unlike other methods, it is safe for
// concurrent use.
func (d *Deferred) Write(p []byte) (int, error) {
	d.mu.Lock()
	v := d.view
	d.mu.Unlock()
	if live, ok := v.(*liveView); ok {
		return live.Write(p)
	}
	if d.options.Err == nil {
		return os.Stderr.Write(p)
	}
	return d.options.Err.Write(p)
}

var _ io.Writer = (*Deferred)(nil)

// Close implements View.
func (d *Deferred) Close() error {
	if d.view == nil {
		return nil
	}
	return d.view.Close()
}
