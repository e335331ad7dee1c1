package gojudge

import (
	"testing"
	"time"
)

func TestSomeStall(t *testing.T) {
	for _, try := range []struct {
		text string
		want time.Duration
		ok   bool
	}{
		{"some avg10=81.44 avg60=80.34 avg300=67.87 total=504675503\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", 504675503 * time.Microsecond, true},
		{"some avg10=0.00 avg60=0.00 avg300=0.00 total=0", 0, true},
		{"full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n", 0, false},
		{"some total=x", 0, false},
		{"", 0, false},
	} {
		if got, ok := someStall(try.text); got != try.want || ok != try.ok {
			t.Errorf("%q: %v, %t", try.text, got, ok)
		}
	}
}

// Contention of a remote server is unknown.
func TestContentionElsewhere(t *testing.T) {
	if !(&connection{}).contention()() {
		t.Error("reported idle processors")
	}
}
