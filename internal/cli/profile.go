package cli

import (
	"bytes"
	"fmt"
	"time"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/view"
)

// profile tells a trace what the engine tells a profile.
type profile struct{ trace *view.Trace }

// Decided implements graph.Profile.
func (p profile) Decided(addr string, marks []graph.Mark, end time.Time) {
	p.trace.Decided(addr, spans(marks), end)
}

// Worked implements graph.Profile.
func (p profile) Worked(addr, pool string, attempt int, marks []graph.Mark, end time.Time) {
	p.trace.Worked(addr, pool, attempt, spans(marks), end)
}

func spans(marks []graph.Mark) []view.Span {
	all := make([]view.Span, len(marks))
	for i, m := range marks {
		all[i] = view.Span{Name: string(m.Phase), Since: m.At}
	}
	return all
}

// writeProfile writes a trace where --profile asks for it.
func writeProfile(path string, trace *view.Trace) error {
	if path == "" {
		return nil
	}
	var content bytes.Buffer
	err := trace.Write(&content)
	if err == nil {
		err = writeWhole(path, content.Bytes())
	}
	if err != nil {
		return fmt.Errorf("writing the profile: %w", err)
	}
	return nil
}
