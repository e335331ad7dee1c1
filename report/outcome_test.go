package report

import (
	"testing"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// A pass rule that is an expression does not depend on tests.
func TestUnmet(t *testing.T) {
	for policy, want := range map[string]string{
		"self.score >= 100": "pass rule not met: self.score >= 100",
		"all-cases":         "pass rule not met: all-cases, there are no tests",
		"strict-core-cases": "pass rule not met: strict-core-cases, there are no core tests",
	} {
		if got := unmet(&Checkpoint{Policy: policy, Class: verdict.Judged, Groups: verdict.NoTestCounts()}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
