package view

import (
	"strings"
	"testing"
)

func TestSchedule(t *testing.T) {
	var b strings.Builder
	Schedule(&b, ScheduleFacts{Took: 115, Chain: 27.2, Slots: 110, Work: 220, Idle: 0.087, Of: 2})
	if got, want := b.String(), "schedule 1m55s of at least 1m50s (critical path 27.2s, total work 3m40s, 0.1 of 2 slots idle)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.Reset()
	Schedule(&b, ScheduleFacts{Took: 0.1})
	if b.Len() != 0 {
		t.Errorf("a run without work prints %q", b.String())
	}
}
