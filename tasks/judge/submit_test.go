package judge

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// grader is a judge server that returns the grades of a list in turn, and repeats the last one.
type grader struct {
	grades []any // *backend.Grade or error
	asked  []backend.Submission
}

func (g *grader) Identity(context.Context) (backend.Identity, error) {
	return backend.Identity{{Label: "kind", Value: "grader"}}, nil
}

func (g *grader) Name() string { return "grader" }

func (g *grader) Grade(_ context.Context, s backend.Submission) (*backend.Grade, error) {
	i := min(len(g.asked), len(g.grades)-1)
	g.asked = append(g.asked, s)
	if err, ok := g.grades[i].(error); ok {
		return nil, err
	}
	return g.grades[i].(*backend.Grade), nil
}

func ratio(r float64) *float64 { return &r }

// earned returns a grade of cases with a limit of a second that ran for a millisecond each.
func earned(ratios ...float64) *backend.Grade {
	g, sum := &backend.Grade{}, 0.0
	for _, r := range ratios {
		c := backend.GradedCase{Ratio: ratio(r), RatioUnbounded: ratio(2 * r), Message: "said", Clock: time.Millisecond, Memory: 7}
		g.Cases, sum = append(g.Cases, c), sum+r
	}
	g.Score, g.ScoreUnbounded = ratio(sum/float64(len(ratios))*100), ratio(sum/float64(len(ratios))*200)
	return g
}

// silent returns g with a case that ran for a duration and reported nothing.
func silent(g *backend.Grade, i int, clock time.Duration) *backend.Grade {
	g.Cases[i].Message, g.Cases[i].Silent, g.Cases[i].Clock = "", true, clock
	return g
}

type readFiles struct{}

func (readFiles) Digest(path string, _ fs.FileInfo) (cache.Digest, error) {
	content, err := os.ReadFile(path)
	return cache.SumBytes(content), err
}

// grading holds the content that Graded stores.
type grading struct {
	verdict.Checkpoint
	measured verdict.Measurements
}

// graded hands code in for a problem of two cases and returns its grading.
func graded(t *testing.T, g *grader, code string, weights bool) (*graph.Status, *grading) {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "a.cpp")
	if err := os.WriteFile(source, []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	store, err := cache.OpenDisk(t.TempDir(), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sources := tasks.Sources{States: readFiles{}, Store: store}
	submit := &Submit{Problem: "sum", Language: CPP, Cases: []time.Duration{time.Second, time.Second}, Repeat: 1,
		Server: &Server{JudgeServer: g, Ident: g.Identity},
		Source: tasks.NewFiles(tasks.NewNamed([]tasks.Named{{Name: "main.cpp", Abs: source}}, nil, sources), nil),
		Files:  tasks.NewFiles(tasks.NewNamed(nil, nil, sources), nil)}
	score := &Graded{Score{Weights: weights, Policy: verdict.AnyJudged,
		Subtasks: []Subtask{{Score: 75, Cases: []CaseName{{"1", "testdata/1.in"}}}, {Score: 25, Cases: []CaseName{{"2", "testdata/2.in"}}}}}}
	made := graph.New()
	on := made.Add(graph.Node{Addr: "submit", Kind: "submit", Task: submit})
	id := made.Add(graph.Node{Addr: "score", Kind: "score", Task: score,
		Deps: []graph.Dep{{On: on, As: FromServer, Outputs: []string{OutputGrade, OutputMeasure}}}})
	r, err := made.Execute(t.Context(), []graph.ID{id}, graph.Options{Store: store, Pools: map[string]int{graph.CPUPool: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if st := r.Status(id); st.State != event.Done {
		return r.Status(on), nil
	}
	var got grading
	for _, o := range r.Status(id).Outputs {
		content, err := cache.ReadBlob(t.Context(), store, o.Digest, -1)
		if err != nil {
			t.Fatal(err)
		}
		into := any(&got.Checkpoint)
		if o.Name == tasks.MeasurementsOutput {
			into = &got.measured
		}
		if err := json.Unmarshal(content, into); err != nil {
			t.Fatal(err)
		}
	}
	return r.Status(on), &got
}

func TestSubmit(t *testing.T) {
	g := &grader{grades: []any{earned(1, 0.25)}}
	_, c := graded(t, g, "code", false)
	if len(g.asked) != 1 || g.asked[0].Problem != "sum" || g.asked[0].Language != "cpp" || string(g.asked[0].Code) != "code" {
		t.Fatalf("handed in: %+v", g.asked)
	}
	if c.Class != verdict.Judged || !c.Passed || *c.Score.Bounded != 62.5 || *c.Score.Unbounded != 125 || c.Collected != 2 {
		t.Fatalf("the checkpoint is %+v", c)
	}
	a, b, m := c.Checkpoint.Tests[0], c.Checkpoint.Tests[1], c.measured.Tests[0]
	if a.ID != "1" || a.File != "testdata/1.in" || a.Verdict != Accepted || a.Status != verdict.TestPassed || m.DurationMS != 1 || *m.MemoryBytes != 7 || m.Message != "said" {
		t.Errorf("the first case is %+v, %+v", a, m)
	}
	if b.Verdict != Points || b.Status != verdict.TestFailed || *b.Ratio != 0.25 || *b.RatioUnbounded != 0.5 {
		t.Errorf("the second case is %+v", b)
	}
}

// Servers know no weights.
func TestSubmitWeights(t *testing.T) {
	if _, c := graded(t, &grader{grades: []any{earned(1, 0)}}, "code", true); *c.Score.Bounded != 75 {
		t.Errorf("the score is %v", *c.Score.Bounded)
	}
}

func TestSubmitRejected(t *testing.T) {
	for code, want := range map[string]string{"code": "main.cpp: no", " \n": "the source is empty", strings.Repeat("/", maxSubmitted+1): "the source has 5242881 bytes"} {
		g := &grader{grades: []any{&backend.Grade{Rejected: "main.cpp: no"}}}
		_, c := graded(t, g, code, false)
		if c.Class != verdict.CompileError || c.Score.Bounded != nil || !strings.Contains(c.measured.Message, want) {
			t.Errorf("%q: the checkpoint is %+v", want, c)
		}
		if sent := len(g.asked) > 0; sent != (code == "code") {
			t.Errorf("%q: handed in: %t", want, sent)
		}
	}
}

// A server's own failure looks like a case that earned nothing without a word.
func TestSubmitSilent(t *testing.T) {
	quick, late := time.Millisecond, 1100*time.Millisecond
	for _, test := range []struct {
		name   string
		grades []any
		asked  int
		score  float64 // below 0: broken
	}{
		{"its time was up", []any{silent(earned(1, 0), 1, late)}, 1, 50},
		{"it was the server", []any{silent(earned(1, 0), 1, quick), earned(1, 0.5)}, 2, 75},
		{"it was the program", []any{silent(earned(1, 0), 1, quick)}, 2, 50},
		{"twice the server", []any{silent(earned(1, 0), 1, quick), silent(earned(0, 1), 0, quick), silent(earned(1, 0), 1, quick)}, 3, 50},
		{"never the same", []any{silent(earned(1, 0), 1, quick), silent(earned(0.5, 0), 1, quick), silent(earned(0.4, 0), 1, quick), silent(earned(0.3, 0), 1, quick)}, 4, -1},
		{"not a number", []any{&backend.Grade{Cases: []backend.GradedCase{{}, {}}}}, 1, -2},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := &grader{grades: test.grades}
			st, c := graded(t, g, "code", false)
			if len(g.asked) != test.asked {
				t.Errorf("handed in %d times, want %d", len(g.asked), test.asked)
			}
			switch {
			case test.score == -1:
				if st.State != event.Broken || !strings.Contains(st.Message, "no two results of the server agree") {
					t.Errorf("the node is %s: %s", st.State, st.Message)
				}
			case test.score == -2:
				if c.Score.Bounded != nil || c.measured.Message != "the score is not a number" {
					t.Errorf("the checkpoint is %+v", c)
				}
			case c == nil || *c.Score.Bounded != test.score:
				t.Errorf("the checkpoint is %+v (%s)", c, st.Message)
			}
		})
	}
}

func TestSubmitBroken(t *testing.T) {
	for want, answer := range map[string]any{"it lost submission 7": errors.New("it lost submission 7"), "the server judged 3 cases": earned(1, 1, 1)} {
		if st, _ := graded(t, &grader{grades: []any{answer}}, "code", false); st.State != event.Broken || !strings.Contains(st.Message, want) {
			t.Errorf("the node is %s: %s", st.State, st.Message)
		}
	}
}
