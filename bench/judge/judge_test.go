package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/fakejudge"
)

// fakeServer has one problem, "sum". Of "flaky" the second attempt is good.
func fakeServer(t *testing.T) *fakejudge.Server {
	s := fakejudge.New("sum")
	t.Cleanup(s.Close)
	again := false
	s.Judge = func(pid, lang, code string) string {
		if code == "flaky" {
			code = "1 0"
			if again {
				code = "1 0.5"
			}
			again = true
		}
		return fakejudge.Ratios(pid, lang, code)
	}
	return s
}

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// command runs the program and returns what it printed.
func command(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out strings.Builder
	if got := run(t.Context(), args, &out, &out); got != code {
		t.Fatalf("%v: exit code %d, want %d\n%s", args, got, code, &out)
	}
	return out.String()
}

// saveOne hands one solution of a fake server's problem in, as "m".
func saveOne(t *testing.T, code string) (file string) {
	t.Helper()
	url := fakeServer(t).URL
	dir := tree(t, map[string]string{"sum/m.cpp": code})
	file = filepath.Join(dir, "saved.json")
	command(t, 0, "submit", "-server", url, "-solutions", dir, "-problems", "sum", "-models", "m", "-save", file)
	return file
}

func TestSubmit(t *testing.T) {
	server := fakeServer(t)
	url := server.URL
	dir := tree(t, map[string]string{"sum/good.cpp": "1 0.25", "sum/bad.cc": "x", "sum/flaky.py": "flaky"})
	file := filepath.Join(dir, "saved.json")
	args := []string{"submit", "-server", url, "-solutions", dir, "-problems", "sum", "-save", file, "-models"}
	out := command(t, 0, append(args, "good,bad")...)
	for _, want := range []string{"sum good: score 62.5, ", "sum bad: error: Error: compile failed: main.cpp: x, "} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	// What is saved is not handed in again; what is silent is, so often as it says.
	command(t, 0, append([]string{"submit", "-attempts", "1"}, append(args[1:], "good,flaky")...)...)
	command(t, 0, append(args, "good,flaky")...)
	if got, want := strings.Join(server.Submitted(), "; "), "sum cpp 1 0.25; sum cpp x; sum python flaky; sum python flaky"; got != want {
		t.Errorf("handed in: %s, want %s", got, want)
	}
	command(t, 0, append(args, "bad", "-again", "-attempts", "2")...)
	if n := len(server.Submitted()); n != 5 {
		t.Errorf("with -again there were %d submissions in all, want 5", n)
	}
	s, err := readSaved(file)
	if err != nil {
		t.Fatal(err)
	}
	if x := s.find("sum", "flaky"); x == nil || len(x.Attempts) != 2 || *x.Attempts[1].Result.Score != 75 || len(s.Submissions) != 3 {
		t.Errorf("saved: %+v", s)
	}
	// The rest is handed in although one is not there.
	out = command(t, 1, "submit", "-server", url, "-solutions", dir, "-problems", "other,sum", "-models", "gone,good", "-save", file)
	if !strings.Contains(out, "has no solution gone of sum") {
		t.Errorf("printed:\n%s", out)
	}
}

// A server that was too slow for its own checker has judged nothing.
func TestSubmitUnjudged(t *testing.T) {
	server := fakejudge.New("sum")
	t.Cleanup(server.Close)
	tries := 0
	server.Judge = func(pid, lang, code string) string {
		if tries++; tries == 1 {
			return `{"status":"error","error":"Error: checker compile failed: Time Limit Exceeded"}`
		}
		return fakejudge.Ratios(pid, lang, code)
	}
	dir := tree(t, map[string]string{"sum/m.cpp": "1 0.5"})
	file := filepath.Join(dir, "saved.json")
	command(t, 0, "submit", "-server", server.URL, "-solutions", dir, "-problems", "sum", "-models", "m", "-save", file)
	results := ours(t, "m", cell(75, test("AC", ratio(1)), test("points", ratio(0.5))))
	if out := command(t, 0, "compare", file, results); tries != 2 || !strings.Contains(out, "1 equal") {
		t.Errorf("handed in %d times:\n%s", tries, out)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"judge"}, {"submit"}, {"compare", "x"}, {"submit", "-nonsense"}} {
		command(t, 2, args...)
	}
	command(t, 1, "compare", filepath.Join(t.TempDir(), "absent"), "absent")
}

// ours returns results of fevalgraph for sum/<model> with a checkpoint in JSON.
func ours(t *testing.T, model, cell string) string {
	t.Helper()
	text := fmt.Sprintf(`{"schema":1,"run":"r","cells":[{"problem":"sum","solution":%q,"backend":"b","repeat":1,%s}]}`, model, cell)
	return filepath.Join(tree(t, map[string]string{"results.json": text}), "results.json")
}

func cell(score float64, tests ...string) string {
	return fmt.Sprintf(`"status":"success","score":%v,"score_unbounded":%v,"message":null,"checkpoints":[{"name":"","class":"judged","score":%v,"tests":[%s]}]`,
		score, 2*score, score, strings.Join(tests, ","))
}

func test(verdict, ratios string) string {
	return fmt.Sprintf(`{"id":"1","file":"1.in","status":"failed","verdict":%q,%s"message":null}`, verdict, ratios)
}

func ratio(r float64) string { return fmt.Sprintf(`"ratio":%v,"ratio_unbounded":%v,`, r, 2*r) }

func TestCompare(t *testing.T) {
	good := cell(62.5, test("AC", ratio(1)), test("PC", ratio(0.25)))
	for _, c := range []struct {
		name, code string
		ours       []string
		exit       int
		want       []string
	}{
		{"equal", "1 0.25", []string{good}, 0, []string{"1 submissions with 2 cases compared: 1 equal, 0 explained, 0 not explained\n", "the server took "}},
		{"a ratio", "1 0.26", []string{good}, 1, []string{"DIFFERS: case 2: 0.26/0.52 there (0.00 s, \"points 0.26\"), 0.25/0.5 here (PC,"}},
		{"the last bit of the score", "1 0.25", []string{cell(62.50000000000001, test("AC", ratio(1)), test("PC", ratio(0.25)))}, 1, []string{"DIFFERS: equal cases, but scores 62.5 and 125 there, 62.50000000000001"}},
		{"number of cases", "1 0.25 1", []string{good}, 1, []string{"DIFFERS: the server has 3 cases, fevalgraph 2: success, judged"}},
		{"the server does not agree with itself", "flaky", []string{cell(75, test("AC", ratio(1)), test("PC", ratio(0.5)))}, 0, []string{"case 2: 0/0 then 0.5/1 there", "1 explained"}},
		{"fevalgraph does not agree with itself", "1 0.25", []string{cell(50, test("AC", ratio(1)), test("TLE", ratio(0))), good}, 0, []string{"here (TLE, 0.00 s, \"\"): one of them does not agree with itself"}},
		{"it earns something else each time", "1 0.25", []string{cell(70, test("AC", ratio(1)), test("PC", ratio(0.4))), cell(80, test("AC", ratio(1)), test("PC", ratio(0.6)))}, 0, []string{"0.4/0.8 then 0.6/1.2 here", "the program does something else each time"}},
		{"the same, and nothing once", "1 0.25", []string{cell(70, test("AC", ratio(1)), test("PC", ratio(0.4))), cell(80, test("AC", ratio(1)), test("PC", ratio(0.6))), cell(50, test("AC", ratio(1)), test("WA", ratio(0)))}, 0, []string{"does something else each time"}},
		{"something, and sometimes nothing", "1 0.25", []string{cell(70, test("AC", ratio(1)), test("PC", ratio(0.4))), cell(50, test("AC", ratio(1)), test("WA", ratio(0)))}, 1, []string{"DIFFERS: case 2"}},
		{"neither", "1 0.25", []string{cell(50, test("AC", ratio(1)), test("TLE", ratio(0))), cell(50, test("AC", ratio(1)), test("TLE", ratio(0)))}, 1, []string{"0/0 then 0/0 here"}},
		{"the checker failed", "1 0", []string{cell(50, test("AC", ratio(1)), test(checkerFailed, ""))}, 0, []string{"0 there and no score here"}},
		{"no ratio for another reason", "1 0", []string{cell(50, test("AC", ratio(1)), test("WA", ""))}, 1, []string{"DIFFERS: case 2"}},
		{"neither compiles", "x", []string{`"status":"error","checkpoints":[{"name":"","class":"compile_error"}]`}, 0, []string{"1 equal"}},
		{"it compiles here", "x", []string{good}, 1, []string{`DIFFERS: the server says "Error: compile failed: main.cpp: x", fevalgraph success, judged`}},
		{"it compiles there", "1 0.25", []string{`"status":"error","checkpoints":[{"name":"","class":"compile_error","message":"no\nmore"}]`}, 1, []string{`fevalgraph 0: error, compile_error, "no"`}},
		{"broken here", "1 0.25", []string{`"status":"broken","checkpoints":[]`}, 1, []string{"DIFFERS: not in fevalgraph's results"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := saveOne(t, c.code)
			args := []string{"compare", file}
			for _, o := range c.ours {
				args = append(args, ours(t, "m", o))
			}
			out := command(t, c.exit, args...)
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in\n%s", want, out)
				}
			}
		})
	}
}

func TestCompareNamesWhatIsMissing(t *testing.T) {
	file := saveOne(t, "1 0.25")
	out := command(t, 1, "compare", file, ours(t, "other", cell(1)))
	for _, want := range []string{"sum m: DIFFERS: not in fevalgraph's results", "sum other: only in fevalgraph's results"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

func TestCompareTakesTheTimeOfARun(t *testing.T) {
	file := saveOne(t, "1 0.25")
	results := ours(t, "m", cell(62.5, test("AC", ratio(1)), test("PC", ratio(0.25))))
	events := tree(t, map[string]string{"good": `{"type":"run.start"}` + "\n" + `{"type":"run.end","seconds":7.25}` + "\n", "bad": `{"type":"run.start"}`})
	if out := command(t, 0, "compare", "-events", filepath.Join(events, "good"), file, results); !strings.Contains(out, "fevalgraph took 7.2 s, ") {
		t.Errorf("printed:\n%s", out)
	}
	command(t, 1, "compare", "-events", filepath.Join(events, "bad"), file, results)
}
