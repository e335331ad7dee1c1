package view

import "github.com/fevalgraph/fevalgraph/event"

// Deferred is a View that begins to draw with the first event: before there is one,
// mistakes of the configuration are shown.
type Deferred struct {
	mode    Mode
	options Options
	view    View // nil before the first event
}

// NewDeferred returns what makes the view for mode when there is something to show.
func NewDeferred(mode Mode, o Options) *Deferred { return &Deferred{mode: mode, options: o} }

// Emit implements event.Sink.
func (d *Deferred) Emit(e event.Event) {
	if d.view == nil {
		d.view = New(d.mode, d.options)
	}
	d.view.Emit(e)
}

// Close implements View.
func (d *Deferred) Close() error {
	if d.view == nil {
		return nil
	}
	return d.view.Close()
}
