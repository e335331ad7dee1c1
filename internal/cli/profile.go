package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/internal/otlp"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/view"
)

// timing names the destinations for the timings of a run; "" means none.
type timing struct{ profile, otlp string }

func (t *timing) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.profile, "profile", "", "write a profile of waiting and working nodes to a `FILE` in Chrome's trace format")
	cmd.Flags().StringVar(&t.otlp, "otlp", "", "send spans of the run, its cells and executed nodes to the OpenTelemetry endpoint `URL`")
}

// observe attaches a trace to a request. write writes it when the run has ended; an unreachable endpoint is a
// warning.
func (t timing) observe(r *eval.Request) (write func(*app, *eval.Outcome) error, err error) {
	trace := view.NewTrace(time.Now(), nil)
	if t.profile != "" {
		r.Trace = tracer{trace}
	}
	var spans *otlp.Recorder
	if t.otlp != "" {
		if spans, err = otlp.New(t.otlp); err != nil {
			return nil, fmt.Errorf("--otlp: %w", err)
		}
		r.Progress = event.Sinks{r.Progress, spans}
	}
	return func(a *app, out *eval.Outcome) error {
		if spans != nil {
			// Spans of an interrupted run are sent, too.
			if err := spans.Send(context.Background(), spanCells(out)); err != nil {
				a.printRemark("warning: %v\n", err)
			}
		}
		return writeProfile(t.profile, trace)
	}, nil
}

// spanCells returns the cells of a run for spans.
func spanCells(out *eval.Outcome) []otlp.Cell {
	cells := make([]otlp.Cell, len(out.Rows))
	for i := range out.Rows {
		r := &out.Rows[i]
		id := plan.CellID{Problem: r.Problem, Solution: r.Solution, Backend: r.Backend, Repeat: r.Repeat}
		cells[i] = otlp.Cell{Problem: r.Problem, Solution: r.Solution, Backend: r.Backend, Repeat: r.Repeat, Outcome: r.Outcome, Suffix: strings.TrimPrefix(id.String(), r.Problem)}
	}
	return cells
}

// tracer implements eval.Trace by a view.Trace.
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

// writeProfile writes a trace to the file of --profile.
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
