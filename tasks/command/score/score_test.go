package score_test

import (
	"math"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/compat/frontier/rules"
	"github.com/fevalgraph/fevalgraph/tasks/command/score"
)

// same compares numbers with NaN equal to itself.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func TestNumber(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		in   string
		want float64
		ok   bool
	}{
		{"85.5", 85.5, true}, {"100", 100, true}, {"-3", -3, true}, {"+1", 1, true}, {".5", .5, true}, {"5.", 5, true},
		{"9.5e-05", 9.5e-05, true}, {"1E+16", 1e16, true}, {"0", 0, true}, {"-0", 0, true},
		{"85.24426979142858", 85.24426979142858, true}, {"1e999", inf, true}, {"-1e999", -inf, true},
		{"nan", nan, true}, {"NaN", nan, true}, {"-nan", nan, true}, {"+NAN", nan, true},
		{"inf", inf, true}, {"-inf", -inf, true}, {"+Inf", inf, true}, {"Infinity", inf, true}, {"-INFINITY", -inf, true},
		{"", 0, false}, {".", 0, false}, {"+", 0, false}, {"e5", 0, false}, {"1e", 0, false}, {"1_000", 0, false}, {"0x10", 0, false},
		{"85.5%", 0, false}, {"85.5ms", 0, false}, {"1,5", 0, false}, {"٣", 0, false}, {"--1", 0, false}, {"infinit", 0, false}, {"nano", 0, false},
	} {
		if got, ok := score.Number(c.in); ok != c.ok || !same(got, c.want) {
			t.Errorf("Number(%q) = %v, %t; want %v, %t", c.in, got, ok, c.want, c.ok)
		}
	}
}

func TestRead(t *testing.T) {
	type rule = score.Rule
	nan, inf := math.NaN(), math.Inf(1)
	runner := rule{From: score.Stdout, Dialect: rules.Runner{}}
	both := rule{From: score.Output, Dialect: rules.Runner{}}
	json := func(pointers ...string) rule {
		r := rule{From: score.File, Pointer: pointers[0]}
		if len(pointers) > 1 {
			r.PointerUnbounded = pointers[1]
		}
		return r
	}
	out := func(s string) score.Artifacts { return score.Artifacts{Stdout: []byte(s)} }
	file := func(s string) score.Artifacts { return score.Artifacts{File: []byte(s)} }
	for _, c := range []struct {
		name               string
		rule               rule
		left               score.Artifacts
		bounded, unbounded float64
		err                string
	}{
		{"last line", rule{}, out("1\n2\n"), 2, 2, ""},
		{"two scores", rule{}, out("loss\n85.5 120\n"), 85.5, 120, ""},
		{"zero", rule{}, out("0\n"), 0, 0, ""},
		{"negative", rule{}, out("-10000\n"), -10000, -10000, ""},
		{"words after it", rule{}, out("85.5\ndone\n\n"), 85.5, 85.5, ""},
		{"a unit", rule{}, out("7\n85.5 points\n"), 7, 7, ""},
		{"a unit alone", rule{}, out("85.5 points\n"), 0, 0, "no line of numbers on stdout"},
		{"three numbers", rule{}, out("1 2 3\n"), 0, 0, "no line of numbers on stdout"},
		{"progress bar", rule{}, out("step 1\rstep 2\r85.5\n"), 85.5, 85.5, ""},
		{"progress bar with numbers", rule{}, out("85.5\r90.0\n"), 90, 90, ""},
		{"progress bar, marked", rule{Marker: "score "}, out("10%\rscore 7\r20%\n"), 7, 7, ""},
		{"carriage return", rule{}, out("1\r\n85.5 90\r\n"), 85.5, 90, ""},
		{"no line end", rule{}, out("x\n85.5"), 85.5, 85.5, ""},
		{"not UTF-8", rule{}, out("\xff\xfe\n85.5\n\xff"), 85.5, 85.5, ""},
		{"invalid UTF-8 next to it", rule{}, out("85.5\xff\n"), 0, 0, "no line of numbers on stdout"},
		{"nothing", rule{}, out(""), 0, 0, "no line of numbers on stdout"},
		{"nan", rule{}, out("nan\n"), nan, nan, ""},
		{"infinite", rule{}, out("100 inf\n"), 100, inf, ""},
		{"stderr does not count", rule{}, score.Artifacts{Stdout: []byte("88.5\n"), Stderr: []byte("3\n")}, 88.5, 88.5, ""},
		{"only stderr does not count", rule{}, score.Artifacts{Stderr: []byte("3\n")}, 0, 0, "no line of numbers on stdout"},
		{"stderr", rule{From: score.Stderr}, score.Artifacts{Stdout: []byte("88.5\n"), Stderr: []byte("3\n")}, 3, 3, ""},
		{"output", rule{From: score.Output}, score.Artifacts{Stdout: []byte("88.5 120\n"), Stderr: []byte("3 7\n")}, 3, 7, ""},
		{"output without stderr", rule{From: score.Output}, out("88.5 120\n"), 88.5, 120, ""},

		{"dialect", runner, out("85.5 90 foo\n[INFO] 3\n7 INFO\n"), 85.5, 90, ""},
		{"dialect skips a unit", runner, out("7\n85.5 foo\n"), 7, 7, ""},
		{"dialect output", both, score.Artifacts{Stdout: []byte("88.5 120\n"), Stderr: []byte("3 7\n")}, 3, 7, ""},
		{"dialect output, stderr without a number", both, score.Artifacts{Stdout: []byte("88.5 120\n"), Stderr: []byte("warning\n")}, 88.5, 120, ""},
		{"dialect vertical tab does not end a line", runner, out("5\v6\n"), 5, 6, ""},

		{"marker", rule{Marker: "SCORE:"}, out("99\nSCORE: 12 13\n100\n"), 12, 13, ""},
		{"marker is absent", rule{Marker: "SCORE:"}, out("99\n SCORE: 12\n"), 0, 0, `no line of numbers that begins with "SCORE:" on stdout`},
		{"last marked line", rule{Marker: "S "}, out("S 1\nS 2\nS x\n"), 2, 2, ""},

		{"pattern", rule{Pattern: `score=(?P<score>\S+)`}, out("score=1\nscore=2.5 of 3\n"), 2.5, 2.5, ""},
		{"pattern, both", rule{Pattern: `(?P<score>\d+)/(?P<unbounded>\d+)`}, out("30/70\n"), 30, 70, ""},
		{"pattern, unbounded absent", rule{Pattern: `s=(?P<score>\d+)(?:u=(?P<unbounded>\d+))?`}, out("s=30\n"), 30, 30, ""},
		{"pattern over lines", rule{Pattern: `(?m)^a\n(?P<score>\d+)$`}, out("a\n3\n"), 3, 3, ""},
		{"pattern, no match", rule{Pattern: `s=(?P<score>\d+)`}, out("30"), 0, 0, `"s=(?P<score>\\d+)" matches nothing on stdout`},
		{"pattern, no number", rule{Pattern: `s=(?P<score>\S+)`}, out("s=3ms"), 0, 0, `the score on stdout is not a number: "3ms"`},
		{"pattern, unbounded no number", rule{Pattern: `(?P<score>\S+) (?P<unbounded>\S+)`}, out("3 x"), 0, 0, `the unbounded score on stdout is not a number: "x"`},
		{"pattern and marker", rule{Pattern: `(?P<score>\d+)`, Marker: ">"}, out("> 1 2\n> x\n9\n"), 2, 2, ""},

		{"file", json("/score"), file(`{"score": 62.5, "other": [1]}`), 62.5, 62.5, ""},
		{"file, both", json("/a/0/score", "/u"), file(`{"a": [{"score": 1e2}], "u": -3}`), 100, -3, ""},
		{"file, escapes", json("/a~1b/m~0n"), file(`{"a/b": {"m~n": 4}}`), 4, 4, ""},
		{"file, NaN of Python's", json("/s", "/u"), file(`{"s": NaN, "u": -Infinity, "t": "NaN \" Infinity"}`), nan, -inf, ""},
		{"file, too large", json("/s"), file(`{"s": 1e999}`), inf, inf, ""},
		{"file, text in Python's words", json("/s"), file(`{"s": "NaN"}`), 0, 0, `at /s the file has the string "NaN", which is not a number`},
		{"file, absent", json("/s"), score.Artifacts{NoFile: "results.json not found"}, 0, 0, "results.json not found"},
		{"file, empty", json("/s"), file(" \n"), 0, 0, "the file is empty"},
		{"file, broken", json("/s"), file(`{"s": 3`), 0, 0, "the file is not JSON: unexpected end of the file"},
		{"file, two values", json("/s"), file(`{"s": 3}{"s": 4}`), 0, 0, "the file is not JSON: unexpected data after the end"},
		{"missing file", json("/a/b"), file(`{"a": {}}`), 0, 0, "the file has no value at /a/b"},
		{"file, null", json("/s"), file(`{"s": null}`), 0, 0, "at /s the file has null, which is not a number"},
		{"file, true", json("/s"), file(`{"s": true}`), 0, 0, "at /s the file has true, which is not a number"},
		{"file, list", json("/s"), file(`{"s": [1]}`), 0, 0, "at /s the file has an array, which is not a number"},
		{"file, index with a zero", json("/s/00"), file(`{"s": [1]}`), 0, 0, "the file has no value at /s/00"},
		{"file as text", rule{From: score.File}, file("x\n12 13\n"), 12, 13, ""},

		{"exit code 0", rule{From: score.Exit}, score.Artifacts{Stdout: []byte("3\n")}, 100, 100, ""},
		{"exit code 1", rule{From: score.Exit}, score.Artifacts{Code: 1}, 0, 0, ""},
		{"a signal", rule{From: score.Exit}, score.Artifacts{Code: -1, Signal: "killed"}, 0, 0, "no exit code: killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.rule.Read(c.left)
			switch {
			case c.err != "" && (err == nil || err.Error() != c.err):
				t.Errorf("error %v, want %s", err, c.err)
			case c.err == "" && err != nil:
				t.Error(err)
			case !same(got.Bounded, c.bounded) || !same(got.Unbounded, c.unbounded):
				t.Errorf("got %v, want %v %v", got, c.bounded, c.unbounded)
			}
		})
	}
}

func TestTelling(t *testing.T) {
	traceback := "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n    raise ValueError(name) from None\nValueError: no such name\n"
	for _, c := range []struct{ name, stdout, stderr, want string }{
		{"traceback", "starting\n", traceback, "ValueError: no such name"},
		{"a module's exception", "", "numpy.linalg.LinAlgError: singular\n", "numpy.linalg.LinAlgError: singular"},
		{"the shell", "", "bash: evaluate.sh: No such file or directory\n", "bash: evaluate.sh: No such file or directory"},
		{"compiler", "", "a.cpp: In function main\na.cpp:3:1: error: expected ;\n", "a.cpp:3:1: error: expected ;"},
		{"stdout", "Error: missing solution\n", "note\n", "Error: missing solution"},
		{"a warning does not count", "", "x.py:1: FutureWarning: Error ahead\nbye\n", "bye"},
		{"somewhere in a line", "got an Error there\n", "", "got an Error there"},
		{"last line", "a\nb\n\n", "", "b"},
		{"nothing", "", "\n", ""},
		{"not UTF-8", "", "Error: \xff\n", "Error: \uFFFD"},
		{"long", "", "Error: " + strings.Repeat("x", 1000) + "\n", "Error: " + strings.Repeat("x", 493) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := score.Telling([]byte(c.stdout), []byte(c.stderr)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCompilePattern(t *testing.T) {
	for p, want := range map[string]string{`(?P<score>\d+)`: "", `(\d+)`: "no group named score", `(`: "missing closing )"} {
		_, err := score.CompilePattern(p)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("CompilePattern(%q) = %v", p, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("SCORE: 1 2\n{\"a\": NaN}", "/a", "(?P<score>.)", "S")
	f.Fuzz(func(t *testing.T, text, pointer, pattern, marker string) {
		left := score.Artifacts{Stdout: []byte(text), File: []byte(text)}
		for _, r := range []score.Rule{{Marker: marker}, {Dialect: rules.Runner{}}, {From: score.File, Pointer: "/" + pointer}} {
			r.Read(left)
		}
		if _, err := score.CompilePattern(pattern); err == nil {
			score.Rule{Pattern: pattern, Marker: marker}.Read(left)
		}
		score.Telling(left.Stdout, left.File)
	})
}
