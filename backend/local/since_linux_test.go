package local

import (
	"os"
	"testing"
)

// A process begun later has a number that is looked at, as has any if the numbers can have gone round.
func TestSince(t *testing.T) {
	forks := forksSinceBoot()
	if forks == 0 || mostNumbers() == 0 {
		t.Fatalf("forks %d, %d numbers", forks, mostNumbers())
	}
	pid := os.Getpid()
	if first := (since{pid: pid, forks: forks}).first(); first != pid && first != 0 {
		t.Errorf("from %d, want %d", first, pid)
	}
	for name, s := range map[string]since{
		"unknown":            {},
		"forks unknown":      {pid: pid},
		"too many forks":     {pid: pid, forks: 1},
		"boot counted again": {pid: pid, forks: 1 << 62},
		"numbers went round": {pid: mostNumbers(), forks: forks},
	} {
		if name == "too many forks" && forksSinceBoot() < uint64(mostNumbers())/2 {
			continue
		}
		if first := s.first(); first != 0 {
			t.Errorf("%s: from %d, want every process", name, first)
		}
	}
}
