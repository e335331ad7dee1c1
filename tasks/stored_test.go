package tasks

import (
	"context"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
	"github.com/fevalgraph/fevalgraph/verdict"
)

var update = flag.Bool("update", false, "write what was got over the golden files")

// storedOutputs runs task on dependencies whose only outputs are the given values, or
// that break where the value is nil, and returns what it stores by output.
func storedOutputs(t *testing.T, task graph.Task, output string, order []string, values map[string]any) map[string][]byte {
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
	if st.State != event.Done {
		t.Fatalf("the task is %s: %s", st.State, st.Message)
	}
	out := map[string][]byte{}
	for _, o := range st.Outputs {
		if out[o.Name], err = cache.ReadBlob(t.Context(), store, o.Digest, -1); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// graded is a task that stores a checkpoint as tasks that score do.
type graded struct {
	c *verdict.Checkpoint
	m *verdict.Measurements
	p verdict.Rule
}

func (graded) Describe(context.Context, *graph.Manifest) error { return nil }

func (g graded) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	if err := Grade(g.c, g.p); err != nil {
		return graph.Outcome{}, err
	}
	return PutGraded(ctx, w.Store, g.c, g.m)
}

// Digests of these bytes are inputs of aggregates, and stores that exist hold
// them. Other bytes need higher recipes of the tasks that write them.
func TestStoredFormIsFrozen(t *testing.T) {
	ptr := func(f float64) *float64 { return &f }
	one, memory := 1, int64(524288)
	half := ptr(0.5)
	verdicts := verdict.Checkpoint{
		Name: "checkpoint_2", Class: verdict.Judged, ExitCode: &one, Collected: 4,
		Tests: []verdict.Test{
			{ID: "test_get[<é>]", File: "tests/test_checkpoint_2.py", Checkpoint: "checkpoint_2", Group: verdict.Core, Status: verdict.TestPassed},
			{ID: "test_slow", File: "tests/test_checkpoint_2.py", Checkpoint: "checkpoint_2", Group: verdict.Functionality, Status: verdict.TestSkipped},
			{ID: "TestErrors::test_key", File: "tests/test_checkpoint_2.py", Checkpoint: "checkpoint_2", Group: verdict.ErrorGroup, Status: verdict.TestError},
			{ID: "test_old", File: "tests/test_checkpoint_1.py", Checkpoint: "checkpoint_1", Group: verdict.Regression, Status: verdict.TestFailed},
		},
	}
	unjudged := verdict.Checkpoint{Name: "checkpoint_3", Class: verdict.CollectionError, InfrastructureFailure: true, Tests: []verdict.Test{}}
	vacuous := verdict.Checkpoint{Name: "checkpoint_1", Class: verdict.Judged, ExitCode: new(int), Tests: []verdict.Test{}}
	result := func(v verdict.Checkpoint, policy string) []byte {
		return storedOutputs(t, &AggregateCheckpoint{Policy: verdict.Policy(policy)}, pytest.OutputVerdicts, []string{"verdicts"}, map[string]any{"verdicts": v})[ResultOutput]
	}
	text, err := json.Marshal(verdicts)
	if err != nil {
		t.Fatal(err)
	}
	frozen(t, "verdicts.json", text)
	frozen(t, "checkpoint.json", result(verdicts, "core-cases"))
	frozen(t, "checkpoint.unjudged.json", result(unjudged, "strict-core-cases"))
	frozen(t, "checkpoint.vacuous.json", result(vacuous, "all-cases"))

	scored := storedOutputs(t, graded{
		c: &verdict.Checkpoint{Class: verdict.Judged, Score: verdict.NewScore(33.266666666666666, 7750), ExitCode: new(int), Collected: 2, Tests: []verdict.Test{
			{ID: "1", File: "testdata/1.in", Group: verdict.Core, Status: verdict.TestPassed, Verdict: "AC", Ratio: ptr(1), RatioUnbounded: ptr(77.5)},
			{ID: "2", File: "testdata/2.in", Group: verdict.Core, Status: verdict.TestFailed, Verdict: "points", Ratio: half, RatioUnbounded: half},
		}},
		m: &verdict.Measurements{DurationMS: 14.25, Message: "two", Tests: []verdict.TestMeasurement{
			{DurationMS: 12.5, CPUMS: ptr(1.8564), MemoryBytes: &memory}, {DurationMS: 1.75, Message: "half"},
		}},
		p: verdict.Policy("any"),
	}, "", nil, nil)
	frozen(t, "scored.json", scored[ResultOutput])
	frozen(t, "measurements.json", scored[MeasurementsOutput])
	notFinite := storedOutputs(t, graded{
		c: &verdict.Checkpoint{Class: verdict.Judged, Score: verdict.NewScore(math.NaN(), math.Inf(-1)), Tests: []verdict.Test{}},
		m: &verdict.Measurements{Tests: []verdict.TestMeasurement{}}, p: verdict.Policy("any"),
	}, "", nil, nil)
	frozen(t, "scored.notfinite.json", notFinite[ResultOutput])
	frozen(t, "measurements.empty.json", notFinite[MeasurementsOutput])
	frozen(t, "nosubmission.json", storedOutputs(t, &NoSubmission{Why: "no answer", Policy: verdict.Policy("any")}, "", nil, nil)[ResultOutput])
}

// frozen compares got with testdata/stored/<name>.
func frozen(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "stored", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", path, got, want)
	}
}
