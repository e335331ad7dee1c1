package eval

import (
	"fmt"
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/eval/release"
)

// TestReleasePage tests that trials are results of both versions, with the causes of differences, and that trials
// without a new score have no verdict in the new version.
func TestReleasePage(t *testing.T) {
	score := func(v float64) *float64 { return &v }
	reason := func(file string) []release.Checkpoint {
		return []release.Checkpoint{{Class: release.Regrade, Reason: &release.Reason{File: file, What: "changed"}}}
	}
	r := release.New("v1", "v2", []release.Problem{
		{Name: "kept", Class: release.Reuse}, {Name: "now", Was: "then", Class: release.Reuse},
		{Name: "graded", Class: release.Regrade, Checkpoints: reason("test.py")}, {Name: "solved", Class: release.Rerun, Checkpoints: []release.Checkpoint{{Class: release.Rerun, Reason: &release.Reason{What: "instruction.md changed"}}}},
	}, []release.Trial{
		{Problem: "kept", Agent: "a", Class: release.Reuse, Before: score(1), After: score(1)},
		{Problem: "then", Agent: "a", Class: release.Reuse, Before: score(0.5), After: score(0.5)},
		{Problem: "graded", Agent: "a", Model: "m", Class: release.Regrade, Before: score(1), After: score(0), Cause: "test.py changed"},
		{Problem: "graded", Agent: "a", Model: "m", Class: release.Regrade, Before: score(0), After: score(1), Cause: "test.py changed"},
		{Problem: "graded", Class: release.Regrade, Before: score(1)},
		{Problem: "solved", Agent: "a", Class: release.Rerun, Before: score(1)},
		{Problem: "gone", Agent: "a", Class: release.Removed, Before: score(1)},
	})
	p, err := ReleasePage(r, "0")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range p.Runs[0].Difference.Changes {
		got = append(got, fmt.Sprintf("%s %s %s -> %s: %s", c.Kind, c.Name, c.Before, c.After, c.Cause()))
	}
	want := []string{
		"lost graded/a m@imported scored 100 -> scored 0: test.py changed",
		"won graded/a m@imported#2 scored 0 -> scored 100: test.py changed",
		"stale graded/unknown@imported scored 100 -> skipped: test.py changed",
		"stale solved/a@imported scored 100 -> skipped: instruction.md changed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if same := p.Runs[0].Difference.Same; same != 2 {
		t.Errorf("%d are the same", same)
	}
	if document, err := p.Document(); err != nil || len(document) == 0 {
		t.Errorf("%d bytes, %v", len(document), err)
	}
}
