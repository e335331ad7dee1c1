package pytest

import (
	"context"
	"maps"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Parse reads the outputs of a Run, its dependency "pytest". It has two outputs, so that
// dependents of equal verdicts stay fresh: OutputVerdicts contains the deterministic facts,
// OutputMeasurements durations and messages.
type Parse struct{ Grouping }

// The outputs of Parse.
const (
	OutputVerdicts     = "verdicts"     // a verdict.Checkpoint that is not graded yet
	OutputMeasurements = "measurements" // tasks.MeasurementsOutput: its verdict.Measurements
)

// Describe implements graph.Task.
func (p *Parse) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 9) // 9: reads the report of the plugin
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
	l, err := readLeft(ctx, w.Store, func(output string) (cache.Digest, bool) { return w.Input("pytest", output) })
	if err != nil {
		return graph.Outcome{}, err
	}
	v, m := p.judge(l)
	return p.put(ctx, w, v, m)
}

// Refused implements graph.Refuser.
func (p *Parse) Refused(ctx context.Context, w *graph.Work, why string) (graph.Outcome, error) {
	return p.put(ctx, w, verdict.Checkpoint{Name: p.Checkpoint, Class: verdict.Refused, Tests: []verdict.Test{}},
		verdict.Measurements{Message: why, Tests: []verdict.TestMeasurement{}})
}

func (p *Parse) put(ctx context.Context, w *graph.Work, v verdict.Checkpoint, m verdict.Measurements) (graph.Outcome, error) {
	k := session.Keeper{Ctx: ctx, Store: w.Store}
	k.JSON(OutputVerdicts, v)
	k.JSON(OutputMeasurements, m)
	return k.Outcome, k.Err
}

// judge converts outputs into verdicts and measurements.
func (p *Parse) judge(l runOutput) (verdict.Checkpoint, verdict.Measurements) {
	r := readReport(l)
	class, message := classify(l, r)
	v, m := p.verdicts(l.exit.Code, class, r.Collected, r.tests, r.skipped)
	m.DurationMS, m.Message, m.Isolation, m.Import = l.timing.Seconds*1000, message, l.timing.Isolation, l.timing.Import
	return v, m
}

// verdicts groups the tests of a run that ended in the given way. skipped are tests that stand for those of
// skipped files; they count if the run was judged.
func (p *Parse) verdicts(code int, class verdict.Class, collected int, tests, skipped []reportedTest) (verdict.Checkpoint, verdict.Measurements) {
	v := verdict.Checkpoint{Name: p.Checkpoint, Class: class, ExitCode: &code, Collected: collected, Tests: []verdict.Test{}}
	m := verdict.Measurements{Tests: []verdict.TestMeasurement{}}
	v.InfrastructureFailure = code >= exitInterrupted && code <= exitNoTests || collected == 0
	if class == verdict.Judged {
		tests = slices.Concat(tests, skipped)
	}
	for _, o := range tests {
		o.Checkpoint = p.checkpointOf(o.File)
		o.Group = p.group(o.Checkpoint, o.keywords)
		v.Tests, m.Tests = append(v.Tests, o.Test), append(m.Tests, o.TestMeasurement)
	}
	return v, m
}

// maxMessage limits the message of a test in bytes; the log has the rest.
const maxMessage = 64 << 10

func shorten(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return message[:maxMessage/2] + "\n[...]\n" + message[len(message)-maxMessage/2:]
}
