package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/atomicfile"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/view"
)

// tracer is a view.Trace as an eval.Trace.
type tracer struct{ *view.Trace }

// Decided implements graph.Profile.
func (t tracer) Decided(addr string, marks []graph.Mark, end time.Time) {
	t.Trace.Decided(addr, spans(marks), end)
}

// Worked implements graph.Profile.
func (t tracer) Worked(addr, pool string, attempt int, marks []graph.Mark, end time.Time) {
	t.Trace.Worked(addr, pool, attempt, spans(marks), end)
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
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = atomicfile.WriteDurable(path, 0o644, content.Bytes())
	}
	if err != nil {
		return fmt.Errorf("writing the profile: %w", err)
	}
	return nil
}
