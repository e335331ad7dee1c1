package report

import (
	"bytes"
	"testing"

	"github.com/fevalgraph/fevalgraph/verdict"
)

func TestSuite(t *testing.T) {
	r := mixed()
	if got := r.Suite("nightly"); len(got.Cells) != 1 || got.Cells[0].Solution != "reference" || got.Run != r.Run {
		t.Errorf("nightly: %+v", got)
	}
	if got := r.Suite("no such suite"); len(got.Cells) != 0 {
		t.Errorf("cells of no suite: %+v", got)
	}
}

// Under agrees with Summarize and leaves its receiver alone.
func TestUnder(t *testing.T) {
	r := mixed()
	before := render(t, "json", r, Options{})
	for _, p := range verdict.Policies() {
		under := r.Under(p)
		if got, want := Summarize(under, nil), Summarize(r, &p); got != want {
			t.Errorf("%s: %+v, want %+v", p, got, want)
		}
		if got := under.Cells[0].Checkpoints[0].Policy; got != string(p) {
			t.Errorf("policy %q", got)
		}
	}
	if !bytes.Equal(before, render(t, "json", r, Options{})) {
		t.Error("the results were changed")
	}
}
