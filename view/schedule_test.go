package view

import (
	"strings"
	"testing"
)

func TestSchedule(t *testing.T) {
	var b strings.Builder
	Schedule(&b, 115, 27.2, 110)
	if got, want := b.String(), "schedule 1m55s of at least 1m50s (longest chain 27.2s, work over slots 1m50s)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.Reset()
	Schedule(&b, 0.1, 0, 0)
	if b.Len() != 0 {
		t.Errorf("a run without work says %q", b.String())
	}
}
