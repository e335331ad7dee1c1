package report

import (
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// A verdict does not become void because what it depends on cannot be read now.
func TestStaleNote(t *testing.T) {
	of := func(state string, class verdict.Class) Checkpoint {
		return Checkpoint{Name: "one", Class: class, Passed: class == verdict.Judged, State: state}
	}
	for _, c := range []struct {
		checkpoint Checkpoint
		want       string
	}{
		{of("", verdict.Judged), ""},
		{of("stale", verdict.Judged), "1 verdict is out of date"},
		{of(StateUnknown, verdict.Judged), "whether 1 verdict still holds"},
		{of("broken", verdict.Judged), "whether 1 verdict still holds"},
		{of("blocked", verdict.Judged), "whether 1 verdict still holds"},
		{of("broken", verdict.NotJudged), "1 verdict is out of date"},
	} {
		r := &Results{Cells: []Cell{{Problem: "p", Checkpoints: []Checkpoint{c.checkpoint}}}}
		if got := strings.TrimPrefix(r.staleNote(), "\n"); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s, %s: %q, not %q", c.checkpoint.State, c.checkpoint.Class, got, c.want)
		}
	}
}
