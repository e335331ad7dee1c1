package pytest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/outputs"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Parse is the task that reads what a Run left, its dependency "pytest", or
// what several left that had a part of the tests each. Its outputs are two, so
// that a re-run with equal verdicts stops there: OutputVerdicts holds the
// deterministic facts, OutputMeasurements durations and messages.
type Parse struct {
	Grouping
	// Parts are the names of the test files in Directory that have a Run of
	// their own each, in order; none means that there is one Run of all. The
	// dependency on the Run of a file is called "pytest <file>".
	Parts     []string
	Directory string
}

// The outputs of Parse.
const (
	OutputVerdicts     = "verdicts"
	OutputMeasurements = "measurements" // tasks.MeasurementsOutput: report.Measurements, one of tests for each of Verdicts.Tests
)

// Verdicts is the content of OutputVerdicts.
type Verdicts struct {
	Checkpoint            string        `json:"checkpoint"`
	Class                 verdict.Class `json:"class"`
	ExitCode              *int          `json:"exit_code"`
	Collected             int           `json:"collected"`
	InfrastructureFailure bool          `json:"infrastructure_failure"`
	Tests                 []TestVerdict `json:"tests"`
}

// TestVerdict is the deterministic part of a report.Test.
type TestVerdict struct {
	ID         string             `json:"id"`
	File       string             `json:"file"`
	Checkpoint string             `json:"checkpoint"`
	Group      verdict.Group      `json:"group"`
	Status     verdict.TestStatus `json:"status"`
}

// Describe implements graph.Task.
func (p *Parse) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 4) // 4: why tests were skipped
	m.String("checkpoint", p.Checkpoint)
	for _, file := range slices.Sorted(maps.Keys(p.Files)) {
		m.String("tests of "+file, p.Files[file])
	}
	for _, marker := range slices.Sorted(maps.Keys(p.Custom)) {
		m.String("group of marker "+marker, string(p.Custom[marker]))
	}
	if len(p.Parts) > 0 { // the names of the dependencies tell the parts
		m.Int("recipe of merging", 1)
		m.String("tests directory", p.Directory)
	}
	return nil
}

// Run implements graph.Task.
func (p *Parse) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	v, m, err := p.read(ctx, w)
	if err != nil {
		return graph.Outcome{}, err
	}
	return p.put(ctx, w, v, m)
}

// Refused implements graph.Refuser.
func (p *Parse) Refused(ctx context.Context, w *graph.Work, why string) (graph.Outcome, error) {
	return p.put(ctx, w, Verdicts{Checkpoint: p.Checkpoint, Class: verdict.Refused, Tests: []TestVerdict{}},
		verdict.Measurements{Message: why, Tests: []verdict.TestMeasurement{}})
}

func (p *Parse) put(ctx context.Context, w *graph.Work, v Verdicts, m verdict.Measurements) (graph.Outcome, error) {
	k := outputs.Keeper{Ctx: ctx, Store: w.Store}
	k.JSON(OutputVerdicts, v)
	k.JSON(OutputMeasurements, m)
	return k.Outcome, k.Err
}

// read judges what the runs left.
func (p *Parse) read(ctx context.Context, w *graph.Work) (Verdicts, verdict.Measurements, error) {
	from := func(as string) (left, error) {
		return readLeft(ctx, w.Store, func(output string) (cache.Digest, bool) { return w.Input(as, output) })
	}
	if len(p.Parts) == 0 {
		l, err := from("pytest")
		if err != nil {
			return Verdicts{}, verdict.Measurements{}, err
		}
		v, m := p.judge(l)
		return v, m, nil
	}
	parts := make([]part, len(p.Parts))
	for i, file := range p.Parts {
		l, err := from("pytest " + file)
		if err != nil {
			return Verdicts{}, verdict.Measurements{}, fmt.Errorf("%s: %w", file, err)
		}
		parts[i] = newPart(path.Join(p.Directory, file), l)
		parts[i].report, parts[i].ctrf = nil, nil // each may be large, and they have been read
	}
	v, m := p.judgeParts(parts)
	return v, m, nil
}

// judge turns what was left into verdicts and measurements.
func (p *Parse) judge(l left) (Verdicts, verdict.Measurements) {
	r := readReports(l)
	class, message := classify(l, r)
	v, m := p.verdicts(l.exit.Code, class, r.collected, r.tests)
	m.DurationMS, m.Message, m.Isolation, m.Import = l.timing.Seconds*1000, message, l.timing.Isolation, l.timing.Import
	return v, m
}

// judgeParts does the same for runs that had a part of the tests each.
func (p *Parse) judgeParts(parts []part) (Verdicts, verdict.Measurements) {
	w := merge(parts)
	tests := make([]observed, len(w.tests))
	for i, t := range w.tests {
		tests[i] = parts[t.part].tests[t.test]
	}
	v, m := p.verdicts(w.code, w.class, w.collected, tests)
	m.Message = w.message
	for _, one := range parts {
		m.DurationMS += one.timing.Seconds * 1000
		m.Isolation = one.timing.Isolation // they have the same backend
		m.Import = cmp.Or(m.Import, one.timing.Import)
	}
	return v, m
}

// verdicts groups the tests of a run that ended in the given way.
func (p *Parse) verdicts(code int, class verdict.Class, collected int, tests []observed) (Verdicts, verdict.Measurements) {
	v := Verdicts{Checkpoint: p.Checkpoint, Class: class, ExitCode: &code, Collected: collected, Tests: []TestVerdict{}}
	m := verdict.Measurements{Tests: []verdict.TestMeasurement{}}
	v.InfrastructureFailure = code >= exitInterrupted && code <= exitNoTests || collected == 0
	for _, o := range tests {
		checkpoint := p.checkpointOf(o.file)
		v.Tests = append(v.Tests, TestVerdict{ID: o.id, File: o.file, Checkpoint: checkpoint,
			Group: p.group(checkpoint, o.keywords), Status: o.status})
		m.Tests = append(m.Tests, verdict.TestMeasurement{DurationMS: o.durationMS, Message: o.message})
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
