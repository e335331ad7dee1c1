package verdict

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Tests every policy with every shape of counts: none, some and all passed in each scope, and scopes without tests. A
// "+" passes, a "0" passes vacuously.
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
		want := strings.ReplaceAll(try.want, " ", "")
		for i, p := range policies {
			got := byte('-')
			switch {
			case p.Vacuous(Judged, try.groups) && p.Holds(Judged, try.groups):
				got = '0'
			case p.Vacuous(Judged, try.groups):
				t.Errorf("%s: %s fails vacuously", try.name, p)
			case p.Holds(Judged, try.groups):
				got = '+'
			}
			if got != want[i] {
				t.Errorf("%s: %s is %c, want %c", try.name, p, got, want[i])
			}
		}
	}
	if Policy("majority").Holds(Judged, GroupCounts{Core: {1, 1}}) || Policy("majority").Vacuous(Judged, nil) {
		t.Error("a policy that does not exist passes something")
	}
	if DefaultPolicy.Holds(Judged, GroupCounts{Regression: {3, 3}}) {
		t.Error("the default passes a checkpoint without core tests")
	}
}

func TestWhatWasNotJudgedNeverPasses(t *testing.T) {
	for _, class := range []Class{"", CollectionError, NoTests, NoReport, Killed, SessionTimeout, PytestFailed, InputError, NotJudged, NotRun, "later"} {
		for _, p := range Policies() {
			for _, groups := range []GroupCounts{nil, {Core: {1, 1}}} { // a policy of all would hold for no tests
				if p.Holds(class, groups) || p.Vacuous(class, groups) {
					t.Errorf("%s passes a checkpoint of class %q with %v", p, class, groups)
				}
			}
		}
	}
}
