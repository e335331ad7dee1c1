package report

import (
	"math"
	"testing"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// A checkpoint with changed tests counts as changed, even with the same outcome.
func TestChangesWithinACheckpoint(t *testing.T) {
	one := func(class verdict.Class, passed bool, tests ...string) *Results {
		c := Checkpoint{Name: "one", Class: class, Passed: passed, Policy: string(verdict.AllCases)}
		for _, text := range tests {
			status := map[byte]verdict.TestStatus{'+': verdict.TestPassed, '-': verdict.TestFailed, '!': verdict.TestError, '/': verdict.TestSkipped}[text[0]]
			c.Tests = append(c.Tests, Test{Test: verdict.Test{ID: text[1:], Status: status}})
		}
		return &Results{Cells: []Cell{{Problem: "p", Solution: "s", Backend: "b", Repeat: 1, Checkpoints: []Checkpoint{c}}}}
	}
	failed := func(tests ...string) *Results { return one(verdict.Judged, false, tests...) }
	for name, c := range map[string]struct {
		before, after *Results
		kind          ChangeKind // "" if it is the same
		lost, won     string
	}{
		"nothing":                   {failed("-a", "+b"), failed("-a", "+b"), "", "", ""},
		"another order":             {failed("-a", "+b"), failed("+b", "-a"), "", "", ""},
		"an error in its place":     {failed("-a"), failed("!a"), "", "", ""},
		"more failures":             {failed("-a", "+b"), failed("-a", "-b"), ChangeChanged, "b", ""},
		"one broken, another fixed": {failed("-a", "+b"), failed("+a", "-b"), ChangeChanged, "b", "a"},
		"renamed":                   {one(verdict.Judged, true, "+a"), one(verdict.Judged, true, "+b"), ChangeChanged, "a", "b"},
		"dropped":                   {one(verdict.Judged, true, "+a", "+b"), one(verdict.Judged, true, "+a"), ChangeChanged, "b", ""},
		"no longer run":             {one(verdict.Judged, true, "+a", "+b"), one(verdict.Judged, true, "+a", "/b"), ChangeChanged, "b", ""},
		"a failing one is gone":     {failed("-a", "-b"), failed("-a"), ChangeChanged, "", "b"},
		"a skipped one is gone":     {failed("-a", "/b"), failed("-a"), "", "", ""},
		"lost":                      {one(verdict.Judged, true, "+a"), failed("-a"), ChangeLost, "a", ""},
		"another end":               {one(verdict.NoReport, false), one(verdict.SessionTimeout, false), ChangeChanged, "", ""},
		"the machine broke":         {failed("-a"), one(verdict.NotJudged, false), ChangeBroken, "", "a"},
		"a fixed machine":           {one(verdict.NotJudged, false), failed("-a"), ChangeJudged, "a", ""},
		"still broken":              {one(verdict.NotJudged, false), one(verdict.CheckerFailed, false), "", "", ""},
	} {
		all := Changes(c.before, c.after)
		if c.kind == "" {
			if len(all) > 0 {
				t.Errorf("%s: %+v", name, all[0])
			}
			continue
		}
		if len(all) != 1 || all[0].Kind != c.kind {
			t.Errorf("%s: %+v, want %s", name, all, c.kind)
			continue
		}
		names := func(tests []Test) (text string) {
			for i := range tests {
				text += tests[i].ID
			}
			return text
		}
		if lost, won := names(all[0].TestsLost), names(all[0].TestsWon); c.kind != ChangeBroken && (lost != c.lost || won != c.won) {
			t.Errorf("%s: lost %q and won %q, want %q and %q", name, lost, won, c.lost, c.won)
		}
		if back := Changes(c.after, c.before); names(back[0].TestsLost) != names(all[0].TestsWon) || names(back[0].TestsWon) != names(all[0].TestsLost) {
			t.Errorf("%s: the other way round is %+v", name, back)
		}
	}
}

// A difference marks tests that only one side has.
func TestTestText(t *testing.T) {
	named := func(id string) (t Test) { t.ID = id; return t }
	checkpoint := func(tests ...Test) *Checkpoint { return &Checkpoint{Tests: tests} }
	c := Change{Was: checkpoint(named("a"), named("b")), Is: checkpoint(named("b"), named("c"))}
	if got, want := c.testText([]Test{named("a"), named("b"), named("c")}, false), "3: a (gone), b, c (new)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Scores also differ above their bound, and if one is NaN.
func TestChangesOfScores(t *testing.T) {
	one := func(bounded, unbounded float64) *Results {
		s := verdict.NewScore(bounded, unbounded)
		c := Checkpoint{Class: verdict.Judged, Policy: string(verdict.NoRule), Score: s.Bounded, ScoreText: s.BoundedText, ScoreUnbounded: s.Unbounded, ScoreUnboundedText: s.UnboundedText}
		return &Results{Cells: []Cell{{Problem: "p", Solution: "s", Backend: "b", Repeat: 1, Checkpoints: []Checkpoint{c}}}}
	}
	for _, c := range []struct {
		before, after *Results
		kind          ChangeKind // "" if it is the same
		standing      string     // after
	}{
		{one(50, 50), one(50, 50), "", ""},
		{one(50, 50), one(60, 60), ChangeWon, "scored 60"},
		{one(100, 120), one(100, 137.5), ChangeWon, "scored 100 (unbounded 137.5)"},
		{one(100, 137.5), one(100, 120), ChangeLost, "scored 100 (unbounded 120)"},
		{one(0, 0), one(math.NaN(), math.NaN()), ChangeChanged, "scored nan"},
	} {
		all := Changes(c.before, c.after)
		if c.kind == "" {
			if len(all) > 0 {
				t.Errorf("equal scores are %+v", all[0])
			}
		} else if len(all) != 1 || all[0].Kind != c.kind || all[0].After != c.standing {
			t.Errorf("%+v, want %s to %q", all, c.kind, c.standing)
		}
	}
}

// A checkpoint that only limits kept from passing is not called failed.
func TestStandingOfTimeout(t *testing.T) {
	c := &Checkpoint{Class: verdict.Judged, Policy: "all-cases", Tests: []Test{{Test: verdict.Test{ID: "slow", Status: verdict.TestFailed, Verdict: verdict.TestTimeout}}, {Test: verdict.Test{ID: "quick", Status: verdict.TestPassed}}}}
	if got := standing(c); got != "timeout" {
		t.Error(got)
	}
	c.Tests[1].Status = verdict.TestFailed
	if got := standing(c); got != "failed" {
		t.Error(got)
	}
}
