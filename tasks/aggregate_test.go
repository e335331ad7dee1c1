package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// fixed is a task with one output, a value as JSON; nil breaks.
type fixed struct {
	name  string
	value any
}

func (f fixed) Describe(context.Context, *graph.Manifest) error { return nil }

func (f fixed) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	if f.value == nil {
		return graph.Outcome{}, errors.New("unplugged")
	}
	b, err := json.Marshal(f.value)
	if err != nil {
		return graph.Outcome{}, err
	}
	d, err := cache.PutBytes(ctx, w.Store, b)
	return graph.Outcome{Outputs: []cache.Output{{Name: f.name, Digest: d}}}, err
}

type badRule struct{}

func (badRule) Text() string                             { return "when nonsense" }
func (badRule) Passes(*verdict.Checkpoint) (bool, error) { return false, errors.New("nonsense") }

// reduce runs task on dependencies with the given values and decodes its result.
func reduce(t *testing.T, task graph.Task, output string, values map[string]any, order []string, into any) *graph.Status {
	t.Helper()
	g, store := graph.New(), cache.NewMemory()
	var deps []graph.Dep
	for _, name := range order {
		id := g.Add(graph.Node{Addr: name, Kind: name, Task: fixed{output, values[name]}})
		deps = append(deps, graph.Dep{On: id, As: name, Outputs: []string{output}})
	}
	id := g.Add(graph.Node{Addr: "result", Kind: "aggregate", Task: task, Deps: deps})
	r, err := g.Execute(t.Context(), []graph.ID{id}, graph.Options{Store: store, Pools: map[string]int{graph.CPUPool: 1}})
	if err != nil {
		t.Fatal(err)
	}
	st := r.Status(id)
	if len(st.Outputs) == 1 {
		b, err := cache.ReadBlob(t.Context(), store, st.Outputs[0].Digest, -1)
		if err == nil {
			err = json.Unmarshal(b, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return st
}

func newVerdict(class verdict.Class, tests ...verdict.Test) verdict.Checkpoint {
	code := 1
	return verdict.Checkpoint{Name: "cp", Class: class, ExitCode: &code, Collected: len(tests), Tests: tests}
}

func test(group verdict.Group, status verdict.TestStatus) verdict.Test {
	return verdict.Test{ID: "t", File: "test_cp.py", Checkpoint: "cp", Group: group, Status: status}
}

// Skipped tests that are left out of totals are still listed, and decide nothing.
func TestAggregateWithoutSkipped(t *testing.T) {
	all := []verdict.Test{test(verdict.Core, verdict.TestPassed), test(verdict.Core, verdict.TestSkipped), test(verdict.Functionality, verdict.TestSkipped)}
	for _, try := range []struct {
		tests  []verdict.Test
		omit   bool
		passed bool
		core   verdict.Count
	}{
		{all, false, false, verdict.Count{Passed: 1, Total: 2}},
		{all, true, true, verdict.Count{Passed: 1, Total: 1}},
		{all[1:], true, false, verdict.Count{}}, // no test shows that it passes
		{append([]verdict.Test{test(verdict.Core, verdict.TestFailed)}, all...), true, false, verdict.Count{Passed: 1, Total: 2}},
	} {
		var got verdict.Checkpoint
		value := map[string]any{"verdicts": newVerdict(verdict.Judged, try.tests...)}
		reduce(t, &AggregateCheckpoint{Policy: verdict.StrictCoreCases, OmitSkipped: try.omit}, pytest.OutputVerdicts, value, []string{"verdicts"}, &got)
		if got.Passed != try.passed || got.Groups[verdict.Core] != try.core || len(got.Tests) != len(try.tests) {
			t.Errorf("%+v: passed %t, %v, %d tests", try, got.Passed, got.Groups[verdict.Core], len(got.Tests))
		}
	}
}

func TestAggregateCheckpoint(t *testing.T) {
	tests := []verdict.Test{
		test(verdict.Core, verdict.TestPassed), test(verdict.Core, verdict.TestPassed), test(verdict.Functionality, verdict.TestFailed),
		test(verdict.Functionality, verdict.TestSkipped), test(verdict.ErrorGroup, verdict.TestError), test(verdict.Regression, verdict.TestPassed),
	}
	for _, try := range []struct {
		name   string
		rule   verdict.Rule
		value  verdict.Checkpoint
		passed bool
		caveat string
	}{
		{"core", verdict.Policy("core-cases"), newVerdict(verdict.Judged, tests...), true, ""},
		{"all", verdict.Policy("all-cases"), newVerdict(verdict.Judged, tests...), false, ""},
		{"a skipped core test", verdict.Policy("core-cases"), newVerdict(verdict.Judged, append(tests, test(verdict.Core, verdict.TestSkipped))...), false, ""},
		{"not judged", verdict.Policy("core-cases"), newVerdict(verdict.Killed, tests...), false, ""},
		{"no core tests, strictly", verdict.Policy("strict-core-cases"), newVerdict(verdict.Judged, tests[2:]...), false, ""},
		{"no core tests", verdict.Policy("core-cases"), newVerdict(verdict.Judged, tests[2:]...), true, "passes core-cases with no core tests"},
		{"no core tests, not judged", verdict.Policy("core-cases"), newVerdict(verdict.NoReport, tests[2:]...), false, ""},
	} {
		var got verdict.Checkpoint
		st := reduce(t, &AggregateCheckpoint{Policy: try.rule}, pytest.OutputVerdicts, map[string]any{"verdicts": try.value}, []string{"verdicts"}, &got)
		if st.Message != try.caveat || got.Vacuous != (try.caveat != "") {
			t.Errorf("%s: message %q, vacuous %t", try.name, st.Message, got.Vacuous)
		}
		if got.Passed != try.passed || got.Class != try.value.Class || len(got.Tests) != len(try.value.Tests) {
			t.Errorf("%s: %+v", try.name, got)
		}
		if try.name == "core" {
			want := verdict.GroupCounts{verdict.Core: {Passed: 2, Total: 2}, verdict.Functionality: {Total: 2}, verdict.ErrorGroup: {Total: 1}, verdict.Regression: {Passed: 1, Total: 1}}
			if diff := cmp.Diff(want, got.Groups); diff != "" {
				t.Error(diff)
			}
		}
	}
	st := reduce(t, &AggregateCheckpoint{Policy: badRule{}}, pytest.OutputVerdicts, map[string]any{"verdicts": newVerdict(verdict.Judged)}, []string{"verdicts"}, nil)
	if !st.Input || st.Message != "deciding whether cp passes: nonsense" {
		t.Errorf("a rule that cannot be evaluated: %+v", st)
	}
}
