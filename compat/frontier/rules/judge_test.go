package rules

import (
	"math"
	"strings"
	"testing"
)

func TestRatios(t *testing.T) {
	nan := math.NaN()
	for _, try := range []struct {
		ok               bool
		said             string
		ratio, unbounded float64
	}{
		{true, "", 1, 1},
		{false, "", 0, 0},
		{false, "Ratio: 1.0 RatioUnbounded: 77.5", 1, 77.5},
		{false, "Ratio: 1e-05", 1, 1}, // the exponent is not seen
		{true, "Ratio: -0.5", 1, 1},   // a sign, not a digit
		{false, "Ratio: -0.5", 0, 0},
		{false, "Ratio: 0.5.", 0.5, 0.5},
		{false, "Ratio: 0.5.7", 0.5, 0.5},
		{false, "Ratio: .5", 0.5, 0.5},
		{false, "Ratio: 5.", 5, 5},
		{true, "Ratio: .", nan, nan},
		{true, "Ratio: ..5", nan, nan},
		{true, "RatioUnbounded: 2.0", 1, 2},
		{false, "RatioUnbounded: 2.0", 0, 2}, // not "Ratio: "
		{false, "Ratio: 0.5 RatioUnbounded: inf", 0.5, 0.5},
		{false, "Ratio: 0.1\nRatio: 0.9", 0.1, 0.1},
		{false, "ratio: 1.0", 0, 0},
		{false, "Ratio:  1.0", 0, 0},
		{false, "Ratio: " + strings.Repeat("9", 400), math.Inf(1), math.Inf(1)},
		{false, "Ratio: 1.0 and then \xff\x00", 1, 1},
	} {
		ratio, unbounded, _ := Judge{}.Ratios(try.ok, try.said, "")
		if !same(ratio, try.ratio) || !same(unbounded, try.unbounded) {
			t.Errorf("%v %q: %v %v, want %v %v", try.ok, try.said, ratio, unbounded, try.ratio, try.unbounded)
		}
	}
	if _, _, message := (Judge{}).Ratios(false, "x", "killed"); message != "x(signal=killed)" {
		t.Errorf("message %q", message)
	}
}

// same compares numbers, but NaN equals itself.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func TestOutput(t *testing.T) {
	for in, want := range map[string]string{"5\n": "5\n", "a\xffb": "a\ufffdb", "\xf0\x9f": "\ufffd\ufffd"} {
		if got := string(Judge{}.Output([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
