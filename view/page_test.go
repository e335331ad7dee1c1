package view

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report/text"
)

func samplePlan() []PlanLine {
	return []PlanLine{
		{"~", "pytest:kvstore/expiry/reference@docker.py312", `asset "fixtures": seed/b.txt changed`},
		{"~", "parse:kvstore/expiry/reference@docker.py312", "follows pytest; stops here if the report is equal"},
		{"=", "tests:kvstore/expiry", ""},
		{"+", "pytest:kvstore/snapshot/agent@local.host", "never ran"},
		{"!", "pytest:kvstore/basics/agent@local.host", "last attempt broken (connection refused), will retry"},
		{"x", "materialize:kvstore/fixtures", "fixtures/a\nb: permission denied"},
	}
}

func TestPlanGolden(t *testing.T) {
	causes := []CauseCount{{"asset", 1}, {"follows", 1}, {"new", 1}, {"broken", 1}, {"error", 1}}
	var b bytes.Buffer
	Plan(&b, PlanSummary{Lines: samplePlan(), Checkpoints: 3, Causes: causes}, PlanCount{Fresh: 23, Total: 28}, 190, 2, text.Page{})
	golden(t, "plan.txt", b.String())
	b.Reset()
	Plan(&b, PlanSummary{Lines: samplePlan(), Causes: causes}, PlanCount{Fresh: 23, Total: 28}, 0, 2, text.Page{Color: true})
	golden(t, "plan.verbose.color.txt", b.String())
	b.Reset()
	Plan(&b, PlanSummary{}, PlanCount{Fresh: 27, Total: 27}, 0, 2, text.Page{})
	if want := "= 27 fresh\n0 stale of 27. Nothing was changed.\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestExplainGolden(t *testing.T) {
	key, was := strings.Repeat("0123456789abcdef", 4), strings.Repeat("fedcba9876543210", 4)
	e := Explanation{
		Addr: `kvstore/expiry/pytest@docker.py312:agent["small"]`, Kind: "pytest", State: "stale", Key: key, PreviousKey: was,
		Cause: `file tests/conftest.py changed`, Run: "20260102-030405-abcd",
		Changes: []event.Change{
			{Field: "file tests/conftest.py", Old: was + "/120", New: key + "/131", Via: "kvstore/expiry/tests"},
			{Field: "env TOKEN", New: "secret token"},
			{Field: "timeout", Old: "30s"},
			{Field: "arg 3", Old: "a\x1b[31m", New: strings.Repeat("long ", 50)},
			{Field: "order"},
			{Field: "arg 4", Old: strings.Repeat("same ", 20) + "old", New: strings.Repeat("same ", 20) + "new"},
		},
		Fields:    []Field{{"kind", "pytest 1"}, {"file a/very/long/path/that/is/longer/than/the/column.py", key + "/7"}, {"empty", ""}},
		Deps:      []DepState{{"kvstore/expiry/tests", "stale", "file tests/conftest.py changed"}, {"kvstore/asset/fixtures", "fresh", ""}},
		LastClass: "broken", LastMessage: "starting uvx: no such file\nhint: install uv",
	}
	var b bytes.Buffer
	Explain(&b, e, text.Page{})
	golden(t, "explain.txt", b.String())
	b.Reset()
	e.Verbose = true
	Explain(&b, e, text.Page{Color: true})
	golden(t, "explain.verbose.color.txt", b.String())
	b.Reset()
	Explain(&b, Explanation{Addr: "a", Kind: "tests", State: "fresh", Key: key, PreviousKey: key, Run: "r1"}, text.Page{})
	golden(t, "explain.fresh.txt", b.String())
}

func TestStatusGolden(t *testing.T) {
	rows := []StatusRow{
		{"kvstore", "checkpoint_1", "reference", "local.host", "passed", "12/12", "33/33", "fresh", "", "", nil, "20260102-030405-abcd"},
		{"kvstore", "checkpoint_2", "reference", "local.host", "failed", "11/12", "30/33", "stale", "file tests/conftest.py changed", "", nil, "20260102-030405-abcd"},
		{"logs", "checkpoint_1", `agent["a\x1b"]`, "docker.py312", "broken", "", "", "stale", "last attempt broken\n", "", nil, "20260101-030405-abcd"},
		{"logs", "checkpoint_2", "agent", "docker.py312", "", "", "", "new", "never ran", "", nil, ""},
		{"packing10", "", "agent", "gojudge.box", "scored", "1/3", "1/3", "fresh", "", "", new(float64), "20260101-030405-abcd"},
		{"packing9", "", "agent", "gojudge.box", "scored", "1/3", "1/3", "fresh", "", "", new(float64), "20260101-030405-abcd"},
	}
	var b bytes.Buffer
	StatusTable(&b, rows, text.Page{})
	golden(t, "status.txt", b.String())
	b.Reset()
	StatusTable(&b, rows, text.Page{Color: true})
	golden(t, "status.color.txt", b.String())
	b.Reset()
	rows[0].Note = "passes core-cases with no core\ntests"
	StatusTable(&b, rows, text.Page{})
	golden(t, "status.note.txt", b.String())
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	Table(&b, []string{"name", "value"}, [][]string{{"a", "1\n2"}, {"longer"}, {"日本", "x"}}, text.Page{})
	const want = "NAME    VALUE\n-------------\na       1\\n2\nlonger\n日本    x\n"
	if b.String() != want {
		t.Errorf("got:\n%swant:\n%s", b.String(), want)
	}
}

func TestRunSummary(t *testing.T) {
	for want, end := range map[string]event.RunEnd{
		"ran 4, cached 23 in 1.2s\n": {Executed: 4, Cached: 23, Seconds: 1.2},
		"ran 0, cached 0 in 0s\n":    {},

		"ran 4, cached 23, preempted 2 in 1.2s\n": {Executed: 4, Cached: 23, Preempted: 2, Seconds: 1.2},
		"ran 5, cached 1, blocked 2, broken 3, failed 4, skipped 7, interrupted 6 in 2h05m\n": {
			Executed: 5, Cached: 1, Blocked: 2, Broken: 3, Failed: 4, Skipped: 7, Interrupted: 6, Seconds: 7500},
	} {
		var b bytes.Buffer
		if RunSummary(&b, end, nil); b.String() != want {
			t.Errorf("got %q, want %q", b.String(), want)
		}
	}
	var b bytes.Buffer
	RunSummary(&b, event.RunEnd{Executed: 2, Seconds: 63}, []NodeTime{{"kvstore/a/pytest", 61.5}, {"kvstore/b/pytest", 0.5}})
	const want = "ran 2, cached 0 in 1m03s\nslowest   1m02s  kvstore/a/pytest\n           0.5s  kvstore/b/pytest\n"
	if b.String() != want {
		t.Errorf("got:\n%swant:\n%s", b.String(), want)
	}
}

func TestUseColor(t *testing.T) {
	env := func(pairs ...string) func(string) (string, bool) {
		return func(name string) (string, bool) {
			for _, pair := range pairs {
				if key, value, _ := strings.Cut(pair, "="); key == name {
					return value, true
				}
			}
			return "", false
		}
	}
	terminal := openTerminal(t)
	for _, c := range []struct {
		flag string
		out  io.Writer
		env  func(string) (string, bool)
		want bool
	}{
		{"auto", terminal, env(), true},
		{"", terminal, nil, true},
		{"auto", terminal, env("NO_COLOR=1"), false},
		{"auto", terminal, env("NO_COLOR="), true}, // the convention: set and not empty
		{"auto", terminal, env("TERM=dumb"), false},
		{"auto", io.Discard, env(), false},
		{"always", io.Discard, env("NO_COLOR=1"), true},
		{"never", terminal, env(), false},
	} {
		if got, err := UseColor(c.flag, c.out, c.env); got != c.want || err != nil {
			t.Errorf("UseColor(%q, %T) = %v, %v", c.flag, c.out, got, err)
		}
	}
	if _, err := UseColor("alwys", terminal, nil); err == nil || !strings.Contains(err.Error(), `did you mean "always"?`) {
		t.Errorf("error %v", err)
	}
}
