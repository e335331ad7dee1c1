package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// What it takes to measure works; the figures mean nothing.
func TestMeasure(t *testing.T) {
	binary := os.Getenv("FEVALGRAPH_TEST_GOJUDGE")
	if binary == "" {
		t.Skip("it needs go-judge; run: make test")
	}
	var out bytes.Buffer
	if err := measure(t.Context(), plan{Binary: binary, Parallelism: 2, Cases: 10, Rounds: 2}, true, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"ratio":`) {
		t.Errorf("it printed %s", out.String())
	}
}

func TestOverall(t *testing.T) {
	if got := overall([]float64{100, 300}); got != 150 {
		t.Errorf("got %v", got)
	}
}
