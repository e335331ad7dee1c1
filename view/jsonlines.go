package view

import (
	"encoding/json"

	"github.com/fevalgraph/fevalgraph/event"
)

// jsonView writes the event stream, one line and one write per event.
type jsonView struct {
	encoder *json.Encoder
	err     error
	closed  bool
}

func newJSONView(o Options) *jsonView {
	v := &jsonView{encoder: json.NewEncoder(o.Out)}
	v.encoder.SetEscapeHTML(false)
	return v
}

// Emit writes e. After an error it writes nothing more: a reader must not
// mistake a stream with a gap for a complete one.
func (v *jsonView) Emit(e event.Event) {
	if v.err == nil && !v.closed {
		v.err = v.encoder.Encode(e)
	}
}

func (v *jsonView) Close() error {
	v.closed = true
	return v.err
}
