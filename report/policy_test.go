package report

import (
	"strings"
	"testing"
)

func TestPolicyPasses(t *testing.T) {
	type counts = GroupCounts
	all := counts{Core: {2, 2}, Functionality: {1, 1}, Regression: {1, 1}, ErrorGroup: {1, 1}}
	errorsFail := counts{Core: {2, 2}, Functionality: {1, 1}, ErrorGroup: {0, 1}}
	functionFails := counts{Core: {2, 2}, Functionality: {0, 1}}
	someCore := counts{Core: {1, 2}}
	onlyErrors := counts{ErrorGroup: {1, 1}}
	nothing := counts{Core: {0, 2}, Functionality: {0, 1}}
	none := counts{}

	for _, c := range []struct {
		policy Policy
		pass   []counts
		fail   []counts
	}{
		{CoreCases, []counts{all, errorsFail, functionFails}, []counts{someCore, onlyErrors, nothing, none}},
		{AllCases, []counts{all, onlyErrors}, []counts{errorsFail, functionFails, someCore, nothing, none}},
		{AllNonErrorCases, []counts{all, errorsFail}, []counts{functionFails, someCore, onlyErrors, nothing, none}},
		{AnyCase, []counts{all, errorsFail, functionFails, someCore, onlyErrors}, []counts{nothing, none}},
		{AnyCoreCases, []counts{all, errorsFail, functionFails, someCore}, []counts{onlyErrors, nothing, none}},
		{AnyJudged, []counts{all, errorsFail, functionFails, someCore, onlyErrors, nothing, none}, nil},
		{"no such policy", nil, []counts{all}},
	} {
		for _, groups := range c.pass {
			if !c.policy.Passes(&Checkpoint{Class: Judged, Groups: groups}) {
				t.Errorf("%s does not pass %v", c.policy, groups)
			}
		}
		for _, groups := range c.fail {
			if c.policy.Passes(&Checkpoint{Class: Judged, Groups: groups}) {
				t.Errorf("%s passes %v", c.policy, groups)
			}
		}
	}
}

func TestWhatWasNotJudgedNeverPasses(t *testing.T) {
	for _, class := range []Class{"", CollectionError, NoTests, NoReport, Killed, SessionTimeout, PytestFailed, NotJudged, NotReached, "later"} {
		c := &Checkpoint{Class: class, Passed: true, Groups: GroupCounts{Core: {1, 1}}}
		for _, p := range Policies() {
			if p.Passes(c) {
				t.Errorf("%s passes a checkpoint of class %q", p, class)
			}
		}
		r := &Results{Cells: []Cell{{Status: Success, Checkpoints: []Checkpoint{*c}}}}
		if s := Summarize(r, nil); s.Passed != 0 || s.Exit == 0 {
			t.Errorf("class %q counts as passed: %+v", class, s)
		}
	}
}

func TestParsePolicy(t *testing.T) {
	for _, p := range Policies() {
		if got, err := ParsePolicy(string(p)); err != nil || got != p {
			t.Errorf("ParsePolicy(%q) = %q, %v", p, got, err)
		}
	}
	for in, want := range map[string]string{
		"core-case": `did you mean "core-cases"? known are core-cases, all-cases`,
		"any-cases": `did you mean "any-case"?`,
		"Any":       `did you mean "any"?`,
		"":          `unknown policy "": known are`,
		"majority":  `unknown policy "majority": known are`,
	} {
		if _, err := ParsePolicy(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParsePolicy(%q): %v, want %q", in, err, want)
		}
	}
}

func TestSummarize(t *testing.T) {
	pass := checkpoint("a", Judged, true, test("t", Core, TestPassed, ""))
	fail := checkpoint("b", Judged, false, test("t", Core, TestFailed, ""), test("u", Functionality, TestPassed, ""))
	killed, broken, skipped := checkpoint("c", Killed, false), checkpoint("d", NotJudged, false), checkpoint("e", NotReached, false)
	for name, c := range map[string]struct {
		status Status
		in     []Checkpoint
		policy Policy
		want   Summary
		line   string
	}{
		"pass":                    {Success, []Checkpoint{pass}, "", Summary{Judged: 1, Passed: 1}, "1 cell, 1 checkpoint: 1 passed"},
		"fail":                    {Success, []Checkpoint{pass, fail}, "", Summary{Judged: 2, Passed: 1, Failed: 1, Exit: 1}, "1 cell, 2 checkpoints: 1 passed, 1 failed"},
		"looser":                  {Success, []Checkpoint{pass, fail}, AnyCase, Summary{Judged: 2, Passed: 2}, ""},
		"killed":                  {Error, []Checkpoint{pass, killed}, AnyJudged, Summary{Judged: 1, Passed: 1, NotJudged: 1, Errored: 1, Exit: 1}, ""},
		"broken":                  {Broken, []Checkpoint{broken, fail, skipped}, "", Summary{Judged: 1, Failed: 1, NotJudged: 2, Broken: 1, Skipped: 1, Exit: 3}, "1 cell, 3 checkpoints: 0 passed, 1 failed, 1 broken, 1 skipped"},
		"skipped":                 {Success, []Checkpoint{pass, skipped}, "", Summary{Judged: 1, Passed: 1, NotJudged: 1, Skipped: 1}, ""},
		"nothing":                 {Skipped, []Checkpoint{skipped}, "", Summary{NotJudged: 1, Skipped: 1, Exit: 1}, ""},
		"no checkpoints, broken":  {Broken, nil, "", Summary{NotJudged: 1, Broken: 1, Exit: 3}, "1 cell, 1 checkpoint: 0 passed, 1 broken"},
		"no checkpoints, timeout": {TimedOut, nil, "", Summary{NotJudged: 1, Errored: 1, Exit: 1}, ""},
	} {
		var policy *Policy
		if c.policy != "" {
			policy = &c.policy
		}
		c.want.Cells, c.want.Checkpoints = 1, max(len(c.in), 1)
		got := Summarize(&Results{Cells: []Cell{{Status: c.status, Checkpoints: c.in}}}, policy)
		if got != c.want {
			t.Errorf("%s: got %+v\nwant %+v", name, got, c.want)
		}
		if c.line != "" && got.String() != c.line {
			t.Errorf("%s: %q", name, got)
		}
	}
	if s := Summarize(&Results{}, nil); s != (Summary{}) {
		t.Errorf("nothing asked for: %+v", s)
	}
}
