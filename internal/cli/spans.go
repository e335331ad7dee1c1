package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/otlp"
	"github.com/fevalgraph/fevalgraph/plan"
)

// recordSpans makes a request record the spans for the endpoint of --otlp, if there is one. send sends them when the
// run has ended; an unreachable endpoint is a warning.
func (a *app) recordSpans(endpoint string, r *eval.Request) (send func(*eval.Outcome), err error) {
	if endpoint == "" {
		return func(*eval.Outcome) {}, nil
	}
	spans, err := otlp.New(endpoint)
	if err != nil {
		return nil, fmt.Errorf("--otlp: %w", err)
	}
	r.Progress = event.Sinks{r.Progress, spans}
	return func(out *eval.Outcome) {
		// Spans of an interrupted run are sent, too.
		if err := spans.Send(context.Background(), spanCells(out)); err != nil {
			a.printRemark("warning: %v\n", err)
		}
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
