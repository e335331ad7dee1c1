package pytest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
)

// Parse is the task that reads what a Run left, its dependency "pytest". Its
// outputs are two, so that a re-run with equal verdicts stops there:
// OutputVerdicts holds the deterministic facts, OutputMeasurements durations
// and messages.
type Parse struct {
	Grouping
}

// The outputs of Parse.
const (
	OutputVerdicts     = "verdicts"
	OutputMeasurements = "measurements"
)

// Verdicts is the content of OutputVerdicts.
type Verdicts struct {
	Checkpoint            string        `json:"checkpoint"`
	Class                 report.Class  `json:"class"`
	ExitCode              *int          `json:"exit_code"`
	Collected             int           `json:"collected"`
	InfrastructureFailure bool          `json:"infrastructure_failure"`
	Tests                 []TestVerdict `json:"tests"`
}

// TestVerdict is the deterministic part of a report.Test.
type TestVerdict struct {
	ID         string            `json:"id"`
	File       string            `json:"file"`
	Checkpoint string            `json:"checkpoint"`
	Group      report.Group      `json:"group"`
	Status     report.TestStatus `json:"status"`
}

// Measurements is the content of OutputMeasurements; Tests has one entry for
// each of Verdicts.Tests.
type Measurements struct {
	DurationMS float64           `json:"duration_ms"`
	Message    string            `json:"message,omitempty"`
	Tests      []TestMeasurement `json:"tests"`
}

// TestMeasurement is what of a test varies from run to run.
type TestMeasurement struct {
	DurationMS float64 `json:"duration_ms"`
	Message    string  `json:"message,omitempty"`
}

// Describe implements graph.Task.
func (p *Parse) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 1)
	m.String("checkpoint", p.Checkpoint)
	for _, file := range slices.Sorted(maps.Keys(p.Files)) {
		m.String("tests of "+file, p.Files[file])
	}
	for _, marker := range slices.Sorted(maps.Keys(p.Custom)) {
		m.String("group of marker "+marker, string(p.Custom[marker]))
	}
	return nil
}

// Run implements graph.Task.
func (p *Parse) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	left, err := readLeft(ctx, w)
	if err != nil {
		return graph.Outcome{}, err
	}
	v, m := p.judge(left)
	var o graph.Outcome
	for _, out := range []struct {
		name  string
		value any
	}{{OutputVerdicts, v}, {OutputMeasurements, m}} {
		encoded, err := json.Marshal(out.value)
		if err != nil {
			return o, fmt.Errorf("encoding the %s: %w", out.name, err)
		}
		d, err := cache.PutBytes(ctx, w.Store, encoded)
		if err != nil {
			return o, fmt.Errorf("storing the %s: %w", out.name, err)
		}
		o.Outputs = append(o.Outputs, cache.Output{Name: out.name, Digest: d})
	}
	return o, nil
}

// left is everything that a run left behind.
type left struct {
	exit         exitFacts
	timing       timing
	report, ctrf []byte // nil when absent
	log          []byte
}

func readLeft(ctx context.Context, w *graph.Work) (left, error) {
	var l left
	read := func(output string) ([]byte, error) {
		d, ok := w.Input("pytest", output)
		if !ok {
			return nil, nil
		}
		content, err := cache.ReadBlob(ctx, w.Store, d, maxReport)
		if err != nil {
			return nil, fmt.Errorf("reading the %s: %w", output, err)
		}
		return content, nil
	}
	exit, err := read(OutputExit)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(exit, &l.exit); err != nil {
		return l, fmt.Errorf("decoding the exit: %w", err)
	}
	took, err := read(OutputTiming)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(took, &l.timing); err != nil {
		return l, fmt.Errorf("decoding the timing: %w", err)
	}
	if l.report, err = read(OutputReport); err != nil {
		return l, err
	}
	if l.ctrf, err = read(OutputCTRF); err != nil {
		return l, err
	}
	l.log, err = read(OutputLog)
	return l, err
}

// judge turns what was left into verdicts and measurements.
func (p *Parse) judge(l left) (Verdicts, Measurements) {
	r := readReports(l)
	v := Verdicts{Checkpoint: p.Checkpoint, ExitCode: &l.exit.Code, Collected: r.collected, Tests: []TestVerdict{}}
	m := Measurements{DurationMS: l.timing.Seconds * 1000, Tests: []TestMeasurement{}}
	v.InfrastructureFailure = l.exit.Code >= exitInterrupted && l.exit.Code <= exitNoTests || r.collected == 0
	v.Class, m.Message = classify(l, r)
	for _, o := range r.tests {
		checkpoint := p.checkpointOf(o.file)
		v.Tests = append(v.Tests, TestVerdict{ID: o.id, File: o.file, Checkpoint: checkpoint,
			Group: p.group(checkpoint, o.keywords), Status: o.status})
		m.Tests = append(m.Tests, TestMeasurement{DurationMS: o.durationMS, Message: shorten(o.message)})
	}
	return v, m
}

// maxMessage bounds one test's message in bytes; the log has the rest.
const maxMessage = 64 << 10

func shorten(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return message[:maxMessage/2] + "\n[...]\n" + message[len(message)-maxMessage/2:]
}
