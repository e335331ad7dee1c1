package rules

import (
	"math"
	"strings"
	"testing"
)

// The results of Python 3's float(word) for the first word of each line.
func TestLine(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		in                 string
		bounded, unbounded float64
		ok                 bool
	}{
		{"85.5", 85.5, 85.5, true},
		{"  85.5  90 \t", 85.5, 90, true},
		{"85.5 90 foo bar", 85.5, 90, true}, // the third does not matter
		{"85.5 foo", 0, 0, false},
		{"foo 85.5", 0, 0, false},
		{"1e5", 1e5, 1e5, true}, {"9.5e-05", 9.5e-05, 9.5e-05, true}, {"+1", 1, 1, true}, {"5.", 5, 5, true}, {".5", .5, .5, true},
		{"1_000", 1000, 1000, true}, {"1__000", 0, 0, false}, {"_1", 0, 0, false}, {"1_", 0, 0, false}, {"1_.5", 0, 0, false}, {"1e1_0", 1e10, 1e10, true},
		{"inf", inf, inf, true}, {"-Infinity nan", -inf, nan, true}, {"nan", nan, nan, true}, {"+nan", nan, nan, true}, {"infinit", 0, 0, false},
		{"1e400", inf, inf, true},
		{"٣.٥", 3.5, 3.5, true}, {"٣x", 0, 0, false}, {"𝟗𝟘", 90, 90, true}, {"８５", 85, 85, true}, {"½", 0, 0, false},
		{"0x10", 0, 0, false}, {"1,5", 0, 0, false}, {"85.5%", 0, 0, false},
		{"[85.5", 0, 0, false}, {"[1] 2", 0, 0, false}, {"7 INFO", 0, 0, false}, {"7 8 ERROR", 0, 0, false}, {"7 8 error", 7, 8, true},
		{"", 0, 0, false}, {" \t", 0, 0, false},
		{"\x1c7\x1f8\u00a0", 7, 8, true}, // white space of Python's
		{"7\x008", 0, 0, false},
	} {
		bounded, unbounded, ok := Runner{}.Line(c.in)
		if ok != c.ok || ok && (!same(bounded, c.bounded) || !same(unbounded, c.unbounded)) {
			t.Errorf("%q: %v %v, %t; want %v %v, %t", c.in, bounded, unbounded, ok, c.bounded, c.unbounded, c.ok)
		}
	}
}

func TestReason(t *testing.T) {
	const none = "Could not parse score from output"
	for _, c := range []struct{ stdout, stderr, want string }{
		{"starting\n", "Traceback:\n    raise ValueError(name) from None\nValueError: no such name\n", "    raise ValueError(name) from None"},
		{"", "bash: evaluate.sh: No such file or directory\n", none},
		{"", "a.cpp:3:1: error: expected ;\n", none},
		{"Error: missing solution\n", "note\n", "Error: missing solution"},
		{"", "x.py:1: FutureWarning: Error ahead\nbye\n", "x.py:1: FutureWarning: Error ahead"},
		{"got an ERROR there\n", "", "got an ERROR there"},
		{"a\nb\n\n", "", none},
		{"", "", none},
		{"", "Error: \xff\n", "Error: \uFFFD"},
		{"", "Error: " + strings.Repeat("x", 1000) + "\n", "Error: " + strings.Repeat("x", 1000)},
	} {
		if got := (Runner{}).Reason([]byte(c.stdout), []byte(c.stderr)); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.stdout, c.stderr, got, c.want)
		}
	}
}
