package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, try := range []struct {
		ms   []int
		want float64
	}{
		{[]int{7}, 7},
		{[]int{9, 1, 2}, 2},
		{[]int{9, 1, 2, 3}, 2.5},
	} {
		var d []time.Duration
		for _, ms := range try.ms {
			d = append(d, time.Duration(ms)*time.Millisecond)
		}
		if got := median(d); got != try.want {
			t.Errorf("median of %v is %v, want %v", try.ms, got, try.want)
		}
	}
}

// The ratio is of the medians, and what was forgotten does not count.
func TestFigures(t *testing.T) {
	ms := time.Millisecond
	bare, ours := newSeries(), newSeries()
	bare.whole = []time.Duration{900 * ms}
	bare.forget()
	bare.whole = []time.Duration{100 * ms, 110 * ms, 500 * ms}
	ours.whole = []time.Duration{121 * ms, 120 * ms, 132 * ms}
	ours.names = []string{"open", "exec"}
	ours.steps = map[string][]time.Duration{"open": {ms}, "exec": {120 * ms}}
	f := newFigures(plan{Image: "i", Network: "bridge", Command: []string{"true"}, Rounds: 3}, bare, ours)
	var out bytes.Buffer
	if err := f.write(&out, true); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var read figures
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &read); err != nil {
		t.Fatal(err)
	}
	if read.Ratio != 1.1 || read.Bare.MedianMS != 110 || read.Session.BestMS != 120 || len(read.Session.Steps) != 2 || read.Image != "i" {
		t.Errorf("read back: %+v", read)
	}
	out.Reset()
	if err := f.write(&out, false); err != nil || !strings.HasSuffix(out.String(), "\nratio 1.10\n") {
		t.Errorf("%v, %s", err, out.String())
	}
}
