package report

import (
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// The reason of a failed test is whole, on a terminal as in a pipe.
func TestWholeReasons(t *testing.T) {
	why := strings.Repeat("expected five words ", 20) + "and an end"
	r := &Results{Cells: []Cell{{Problem: "p", Solution: "s", Backend: "local.host", Checkpoints: []Checkpoint{{
		Name: "c", Class: verdict.Judged, Policy: "core-cases", Tests: []Test{{Test: verdict.Test{ID: "test_one", Group: "core", Status: verdict.TestFailed}, Message: &why}},
	}}}}}
	var b strings.Builder
	if err := WriteTests(&b, "table", r, true, Options{Page: text.Page{Width: 80}}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(got, why) {
		t.Errorf("cut:\n%s", b.String())
	}
}
