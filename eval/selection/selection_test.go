package selection

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// results has two problems, each with the solutions of two models.
func results() *report.Results {
	cell := func(problem, solution, model string, checkpoints ...report.Checkpoint) report.Cell {
		return report.Cell{Problem: problem, Solution: solution, Backend: "local", Repeat: 1, Suites: []string{"main"}, Labels: map[string]string{"model": model}, Checkpoints: checkpoints}
	}
	passed := func(name string) report.Checkpoint {
		return report.Checkpoint{Name: name, Class: verdict.Judged, Passed: true}
	}
	failed := func(name string) report.Checkpoint { return report.Checkpoint{Name: name, Class: verdict.Judged} }
	return &report.Results{Schema: report.Schema, Run: "r1", Cells: []report.Cell{
		cell("tally", "good", "m1", passed("one"), passed("two")),
		cell("tally", "bad", "m2", passed("one"), failed("two")),
		cell("words", "good", "m1", failed("one")),
	}}
}

func TestPick(t *testing.T) {
	for _, c := range []struct {
		args string
		want string // PROBLEM/SOLUTION:CHECKPOINTS
	}{
		{"", "tally/good:one+two tally/bad:one+two words/good:one"},
		{"problem=words", "words/good:one"},
		{"tally/bad", "tally/bad:one+two"},
		{"solution=good,problem=tally", "tally/good:one+two"},
		{"good", "tally/good:one+two words/good:one"},
		{"solution.bad", "tally/bad:one+two"},
		{"suite.main", "tally/good:one+two tally/bad:one+two words/good:one"},
		{"model=m2", "tally/bad:one+two"},
		{"label.model=m2", "tally/bad:one+two"},
		{"checkpoint=two", "tally/good:two tally/bad:two"},
		{"verdict=passed,solution=bad", "tally/bad:one"},
		{"problem=words solution=bad", "tally/bad:one+two words/good:one"}, // either
		{"repeat=1,suite=main,backend=loc*,problem=words", "words/good:one"},
	} {
		all := results()
		picked, err := Pick(all, strings.Fields(c.args))
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		var got []string
		for _, cell := range picked.Cells {
			var names []string
			for _, p := range cell.Checkpoints {
				names = append(names, p.Name)
			}
			got = append(got, cell.Problem+"/"+cell.Solution+":"+strings.Join(names, "+"))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s picks %q, want %q", c.args, got, c.want)
		}
		if picked.Run != "r1" || len(all.Cells[1].Checkpoints) != 2 {
			t.Errorf("%s: run %q, and the results have %d checkpoints left", c.args, picked.Run, len(all.Cells[1].Checkpoints))
		}
	}
}

func TestPickNothing(t *testing.T) {
	for _, c := range []struct {
		arg   string
		class exit.Class
		parts []string // of the message
	}{
		{"problem=taly", exit.NoMatch, []string{"r1", `did you mean "tally"?`, "words"}},
		{"problem=words,solution=bad", exit.NoMatch, []string{"matches no result"}},
		{"modle=m1", exit.Usage, []string{"modle"}},
		{"label.other=m1", exit.Usage, []string{"label.other"}},
	} {
		_, err := Pick(results(), []string{c.arg})
		var coded *exit.Error
		if !errors.As(err, &coded) || coded.Class != c.class {
			t.Errorf("%s: %v", c.arg, err)
			continue
		}
		for _, part := range c.parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, want it to contain %q", c.arg, err, part)
			}
		}
	}
	if _, err := Pick(&report.Results{Run: "r1"}, []string{"tally"}); err == nil || !strings.Contains(err.Error(), "r1 has no results") {
		t.Errorf("of a run without results: %v", err)
	}
}

func TestVerdictWords(t *testing.T) {
	for _, c := range []struct {
		checkpoint   report.Checkpoint
		has, hasNone string
	}{
		{report.Checkpoint{Class: verdict.Judged, Passed: true}, "passed pass", "failed fail scored"},
		{report.Checkpoint{Class: verdict.NoSubmission}, "failed fail " + string(verdict.NoSubmission), "passed pass"},
	} {
		words := VerdictWords(c.checkpoint)
		for _, w := range strings.Fields(c.has) {
			if !slices.Contains(words, w) {
				t.Errorf("%q lacks %q", words, w)
			}
		}
		for _, w := range strings.Fields(c.hasNone) {
			if slices.Contains(words, w) {
				t.Errorf("%q contains %q", words, w)
			}
		}
	}
}

func TestChanges(t *testing.T) {
	cell := &results().Cells[0]
	broken := &report.Change{Cell: cell, Kind: report.ChangeBroken, Causes: []string{"spec.md changed"}, Was: &cell.Checkpoints[0]}
	flaky := &report.Change{Cell: cell, Kind: report.ChangeFlaky, Causes: []string{"no input changed"}, Was: &cell.Checkpoints[1], Is: &cell.Checkpoints[1]}
	for _, c := range []struct {
		args          []string
		broken, flaky bool
	}{
		{nil, false, false},
		{[]string{string(report.ChangeBroken)}, true, false},
		{[]string{string(report.ChangeBroken) + "," + string(report.ChangeFlaky)}, true, true},
		{[]string{"change=" + string(report.ChangeFlaky)}, false, true},
		{[]string{"change=b*"}, true, false},
		{[]string{"cause=*spec*"}, true, false},
		{[]string{"checkpoint=one"}, true, false}, // of a checkpoint that exists no more
		{[]string{string(report.ChangeFlaky), "checkpoint=one"}, true, true},
		{[]string{"problem=words"}, false, false},
	} {
		match, err := Changes(c.args)
		if err != nil {
			t.Errorf("%q: %v", c.args, err)
			continue
		}
		if match(broken) != c.broken || match(flaky) != c.flaky {
			t.Errorf("%q picks %v and %v", c.args, match(broken), match(flaky))
		}
	}
	for _, arg := range []string{"brokn", "", string(report.ChangeFlaky) + ",", "colour=red", "change=bogus", "change=lost,change=xx*"} {
		_, err := Changes([]string{arg})
		if coded := (*exit.Error)(nil); !errors.As(err, &coded) || coded.Class != exit.Usage {
			t.Errorf("%q: %v, want a usage error", arg, err)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	known := Known{}
	for _, name := range []string{`sum["small"]`, "tally", ""} {
		known.Add("problem", name)
	}
	known.Add("solution", "gpt-large")
	for arg, want := range map[string]string{
		"problem=tallly":            `; did you mean "tally"?`,
		"problem=tally":             "",
		"problem=sum":               "", // without its key
		"problem=sum[small]":        "",
		"tallly/gpt-large":          `; did you mean "tally"?`,
		"pytest:tallly/x/gpt-large": `; did you mean "tally"?`,
		"gpt-large":                 "; did you mean solution=gpt-large?",
		"problem=tall*":             "",
		"problem=zzzzzzzzzz":        "",
		"":                          "",
	} {
		if got := known.DidYouMean([]string{arg}); got != want {
			t.Errorf("%s: %q, want %q", arg, got, want)
		}
	}
	if got := known.Names("problem"); !slices.Equal(got, []string{`sum["small"]`, "tally"}) {
		t.Errorf("Names: %q", got)
	}
}

func TestHighest(t *testing.T) {
	for _, c := range []struct{ all, want []int }{
		{[]int{0, 0}, nil},
		{[]int{-1}, nil},
		{[]int{1, 3, 2, 3, 0}, []int{3, 3}},
	} {
		if got := Highest(c.all, func(n int) int { return n }); !slices.Equal(got, c.want) {
			t.Errorf("Highest(%v) = %v, want %v", c.all, got, c.want)
		}
	}
}

func TestExpand(t *testing.T) {
	known := Known{}
	for axis, names := range map[string]string{"problem": "tally", "solution": `good both agent["small"]`, "tag": "both", "suite": "nightly", "backend": "local.host", "task": `plot train["1"] train["a.b"]`} {
		for name := range strings.FieldsSeq(names) {
			known.Add(axis, name)
		}
	}
	for arg, want := range map[string]string{
		"good": "solution=good", "both": "both", "tally": "tally", "goo*": "goo*", "tally/good": "tally/good", "unknown": "unknown",
		"suite.nightly": "suite=nightly", "backend.local.host": "backend=local.host", "task.plot": "task:plot", "suite.weekly": "suite.weekly",
		`task.train["1"]`: `task:train["1"]`, "task.train[a.b]": `task:train["a.b"]`, "task.train": "task:train[*", "task.train[2]": "task.train[2]", "task.tr": "task.tr",
		`solution.agent["small"]`: `solution=agent["small"]`, "solution.agent[small]": `solution=agent["small"]`, "solution.agent": "solution=agent", "solution.age*": "solution.age*",
		"solution=good": "solution=good", "pytest:good": "pytest:good",
	} {
		if got := Expander(func() Known { return known })(arg); got != want {
			t.Errorf("%s becomes %s, want %s", arg, got, want)
		}
	}
}
