package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every policy over every shape of counts: none, some and all passed in each
// scope, and scopes without tests. A "+" passes, a "0" passes vacuously.
func TestPolicyPasses(t *testing.T) {
	policies := []Policy{
		AnyJudged, AnyCase, AnyCoreCases,
		CoreCases, AllCoreCases, StrictCoreCases, StrictAllCoreCases,
		AllNonErrorCases, StrictAllNonErrorCases, AllCases, StrictAllCases,
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(Policies())), slices.Sorted(slices.Values(policies))); diff != "" {
		t.Error(diff)
	}
	for _, try := range []struct {
		name   string
		groups GroupCounts
		want   string // any, any-*; core; non-error; all
	}{
		{"no tests at all", GroupCounts{}, "+-- 00-- 0- 0-"},
		{"groups without tests", GroupCounts{Core: {}, Functionality: {}, Regression: {}, ErrorGroup: {}}, "+-- 00-- 0- 0-"},
		{"all of every group", GroupCounts{Core: {2, 2}, Functionality: {1, 1}, Regression: {1, 1}, ErrorGroup: {1, 1}}, "+++ ++++ ++ ++"},
		{"only core, all", GroupCounts{Core: {2, 2}}, "+++ ++++ ++ ++"},
		{"a core test was skipped", GroupCounts{Core: {2, 3}}, "+++ ---- -- --"},
		{"only core, none", GroupCounts{Core: {0, 2}}, "+-- ---- -- --"},
		{"only functionality, all", GroupCounts{Functionality: {2, 2}}, "++- 00-- ++ ++"},
		{"only functionality, some", GroupCounts{Functionality: {1, 2}}, "++- 00-- -- --"},
		{"only functionality, none", GroupCounts{Functionality: {0, 2}}, "+-- 00-- -- --"},
		{"only regression, all", GroupCounts{Regression: {3, 3}}, "++- 00-- ++ ++"},
		{"only regression, none", GroupCounts{Regression: {0, 3}}, "+-- 00-- -- --"},
		{"only errors, all", GroupCounts{ErrorGroup: {1, 1}}, "++- 00-- 0- ++"},
		{"only errors, none", GroupCounts{ErrorGroup: {0, 1}}, "+-- 00-- 0- --"},
		{"an error test fails", GroupCounts{Core: {2, 2}, Functionality: {1, 1}, ErrorGroup: {0, 1}}, "+++ ++++ ++ --"},
		{"a functionality test fails", GroupCounts{Core: {2, 2}, Functionality: {0, 1}}, "+++ ++++ -- --"},
		{"a regression test fails", GroupCounts{Core: {2, 2}, Regression: {1, 2}}, "+++ ++++ -- --"},
	} {
		c := &Checkpoint{Class: Judged, Groups: try.groups}
		want := strings.ReplaceAll(try.want, " ", "")
		for i, p := range policies {
			got := byte('-')
			switch {
			case p.Vacuous(c) && p.Passes(c):
				got = '0'
			case p.Vacuous(c):
				t.Errorf("%s: %s fails vacuously", try.name, p)
			case p.Passes(c):
				got = '+'
			}
			if got != want[i] {
				t.Errorf("%s: %s is %c, want %c", try.name, p, got, want[i])
			}
		}
	}
	if c := (&Checkpoint{Class: Judged, Groups: GroupCounts{Core: {1, 1}}}); Policy("majority").Passes(c) || Policy("majority").Vacuous(&Checkpoint{Class: Judged}) {
		t.Error("a policy that does not exist passes something")
	}
	if DefaultPolicy.Passes(&Checkpoint{Class: Judged, Groups: GroupCounts{Regression: {3, 3}}}) {
		t.Error("the default passes a checkpoint without core tests")
	}
}

// A pass that nothing speaks for is told from others wherever people look.
func TestVacuousPassIsShown(t *testing.T) {
	bare := checkpoint("b", Judged, true, test("t", Regression, TestPassed, ""))
	r := &Results{Cells: []Cell{{Problem: "p", Status: Success, Checkpoints: []Checkpoint{checkpoint("a", Judged, true, test("t", Core, TestPassed, "")), bare}}}}
	for p, want := range map[Policy]string{
		CoreCases:              "passes core-cases with no core tests",
		AllCoreCases:           "passes all-core-cases with no core tests",
		AllNonErrorCases:       "",
		StrictCoreCases:        "",
		AnyJudged:              "",
		StrictAllNonErrorCases: "",
	} {
		under := r.Under(p)
		if got := under.Cells[0].Checkpoints[1].Caveat(); got != want {
			t.Errorf("%s: caveat %q, want %q", p, got, want)
		}
		if got := under.Cells[0].Checkpoints[0].Caveat(); got != "" {
			t.Errorf("%s: caveat %q of a checkpoint with core tests", p, got)
		}
		vacuous := 0
		if want != "" {
			vacuous = 1
		}
		if s := Summarize(under, nil); s.Vacuous != vacuous || Summarize(r, &p).Vacuous != vacuous {
			t.Errorf("%s: %+v", p, s)
		}
		for _, format := range []string{"table", "markdown", "csv", "junit"} {
			var b strings.Builder
			if err := Write(&b, format, under, Options{}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(b.String(), "with no core tests"); got != (want != "") {
				t.Errorf("%s under %s: %t\n%s", format, p, got, b.String())
			}
		}
	}
	empty := &Checkpoint{Class: Judged, Passed: true, Vacuous: true, Policy: string(AllCases)}
	if got := empty.Caveat(); got != "passes all-cases with no tests" {
		t.Errorf("caveat %q", got)
	}
	empty.Policy = string(AllNonErrorCases)
	if got := empty.Caveat(); got != "passes all-non-error-cases with no tests outside of the error group" {
		t.Errorf("caveat %q", got)
	}
	empty.Class = Killed
	if got := empty.Caveat(); got != "" {
		t.Errorf("caveat %q of what was not judged", got)
	}
	if got := Summarize(r.Under(CoreCases), nil).String(); got != "1 cell, 2 checkpoints: 2 passed (1 vacuously)" {
		t.Error(got)
	}
}

// In a table of many cells, the row of one says so, too.
func TestVacuousPassIsShownForCells(t *testing.T) {
	r := &Results{}
	for range manyRows + 1 {
		r.Cells = append(r.Cells, Cell{Problem: "p", Status: Success, Checkpoints: []Checkpoint{checkpoint("a", Judged, true, test("t", Regression, TestPassed, ""))}})
	}
	var b strings.Builder
	if err := Write(&b, "table", r.Under(CoreCases), Options{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "a passes core-cases with no core tests"); got != manyRows+1 {
		t.Errorf("%d rows say so:\n%s", got, b.String())
	}
}

func TestWhatWasNotJudgedNeverPasses(t *testing.T) {
	for _, class := range []Class{"", CollectionError, NoTests, NoReport, Killed, SessionTimeout, PytestFailed, InputError, NotJudged, NotReached, "later"} {
		c := &Checkpoint{Class: class, Passed: true, Groups: GroupCounts{Core: {1, 1}}}
		for _, p := range Policies() {
			for _, groups := range []GroupCounts{nil, c.Groups} { // a policy of all would hold for no tests
				if c := (&Checkpoint{Class: class, Groups: groups}); p.Passes(c) || p.Vacuous(c) {
					t.Errorf("%s passes a checkpoint of class %q with %v", p, class, groups)
				}
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
		"core-case":    `did you mean "core-cases"? known are core-cases, all-core-cases`,
		"any-cases":    `did you mean "any-case"?`,
		"Any":          `did you mean "any"?`,
		"":             `unknown policy "": known are`,
		"majority":     `unknown policy "majority": known are`,
		"strict-cases": `did you mean "strict-all-cases"?`,
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
	lacking := skipped
	lacking.InfrastructureFailure = true
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
		"a device is lacking":     {Skipped, []Checkpoint{pass, lacking}, AnyJudged, Summary{Judged: 1, Passed: 1, NotJudged: 1, Skipped: 1, Exit: 3}, "1 cell, 2 checkpoints: 1 passed, 1 skipped"},
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
