package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const state = `{
  "started_at": "2026-01-02T03:04:05", "updated_at": null, "total_pairs": 6, "backend": "docker", "config": {},
  "results": {
    "a/x/m.py:a/x": {"score": 33.266666666666666, "score_unbounded": 140.5, "status": "success", "message": null},
    "a/x/n_1.py:a/x": {"score": NaN, "score_unbounded": Infinity, "status": "success", "message": null},
    "b/m.FAILED:b": {"score": 0, "score_unbounded": null, "status": "error", "message": "Generation failed: none"},
    "b/n.py:b": {"score": null, "score_unbounded": null, "status": "timeout", "message": "too slow"},
    "b/o.py:b": {"status": "running"}
  }
}`

const results = `{"schema":1,"run":"r","cells":[
  {"problem":"a/x","solution":"m","status":"success","score":33.266666666666666,"score_unbounded":140.5,"checkpoints":[]},
  {"problem":"a/x","solution":"n_1","status":"success","score":null,"score_unbounded":null,
   "checkpoints":[{"name":"","class":"judged","score_text":"nan","score_unbounded_text":"inf"}]},
  {"problem":"b","solution":"m","status":"error","score":0,"score_unbounded":0,"checkpoints":[{"name":"","class":"no_submission"}]},
  {"problem":"b","solution":"n","status":"timeout","score":null,"score_unbounded":null,"checkpoints":[]}]}`

const table = "solution,problem,score,score_unbounded,status,message\r\n" +
	"a/x/m.py,a/x,33.267,140.500,success,\r\na/x/n_1.py,a/x,nan,inf,success,\r\n" +
	"b/m.FAILED,b,0.000,,error,\"Generation\nfailed\"\r\nb/n.py,b,,,timeout,too slow\r\n"

// command runs the program on files with the given texts, of which the last is
// fevalgraph's, and returns what it printed.
func command(t *testing.T, code int, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, arg := range args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		args[i] = filepath.Join(dir, string(rune('a'+i)))
		if err := os.WriteFile(args[i], []byte(arg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if got := run(args, &out, &out); got != code {
		t.Fatalf("exit code %d, want %d\n%s", got, code, &out)
	}
	return out.String()
}

func contains(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestEqual(t *testing.T) {
	contains(t, command(t, 0, "-v", state, results),
		"equal      a/x m: success 33.266666666666666/140.5\n", "equal      a/x n_1: success NaN/+Inf\n", "equal      b m: error 0/none\n",
		"4 evaluations compared: 4 equal, 0 vary by themselves, 0 different; 0 missing\n")
}

// A CSV has three digits, and neither file can have more then.
func TestRounded(t *testing.T) {
	said := "4 equal, 0 vary by themselves, 0 different; 0 missing; a CSV's scores are rounded\n"
	contains(t, command(t, 0, table, results), said)
	contains(t, command(t, 0, state, table), said)
	contains(t, command(t, 1, table, strings.Replace(results, "33.266666666666666", "33.2664", 1)), "DIFFERENT  a/x m: success 33.267/140.5 there, success 33.2664/140.5 here\n")
}

func TestDifferent(t *testing.T) {
	for old, new := range map[string]string{
		`"score":33.266666666666666`:                 `"score":33.26666666666667`, // the last bit
		`"score_unbounded":140.5`:                    `"score_unbounded":140.25`,
		`"status":"timeout"`:                         `"status":"error"`,
		`"score_text":"nan"`:                         `"score_text":"inf"`,
		`"score":null,"score_unbounded":null,"check`: `"score":0,"score_unbounded":null,"check`,
	} {
		contains(t, command(t, 1, state, strings.Replace(results, old, new, 1)), "DIFFERENT", "3 equal, 0 vary by themselves, 1 different; 0 missing\n")
	}
}

func TestMissing(t *testing.T) {
	contains(t, command(t, 1, state, strings.Replace(results, `"solution":"n_1"`, `"solution":"n_2"`, 1)),
		"missing    a/x n_1: success NaN/+Inf there; not in fevalgraph's results\n",
		"missing    a/x n_2: not in the reference's results; success NaN/+Inf here\n", "3 equal, 0 vary by themselves, 0 different; 2 missing\n")
}

// Differences that one side has with itself are not errors.
func TestVaries(t *testing.T) {
	other := strings.Replace(results, "140.5", "139", 1)
	contains(t, command(t, 0, state, other, results), "varies     a/x m: success 33.266666666666666/140.5 there, success 33.266666666666666/139 then success 33.266666666666666/140.5 here\n",
		"3 equal, 1 vary by themselves, 0 different")
	contains(t, command(t, 1, state, other, other), "1 different")

	dir := t.TempDir()
	again := filepath.Join(dir, "again")
	if err := os.WriteFile(again, []byte(strings.Replace(state, "140.5", "12", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	contains(t, command(t, 0, "-again="+again, state, other), "140.5 then success 33.266666666666666/12 there")
}

func TestBad(t *testing.T) {
	for _, c := range []struct{ reference, results, want string }{
		{state[:200], results, "/a: line 4: unexpected end of JSON input"},
		{`{"results": {"a": {}}}`, results, `"a" is not a pair`},
		{`{"other": 1}`, results, `it has no "results"`},
		{"a,b\r\n", results, `line 1 has no column "solution"`},
		{"", results, `line 1 has no column "solution"`},
		{table + "b/p.py,b,x,,success,\r\n", results, `line 7: score: "x" is not a number`},
		{table + "b/n.py,b,,,timeout,\r\n", results, "line 7: the pair b/n.py:b is there twice"},
		{state, strings.Replace(results, "n_1", "m", 1), "a/x m is there twice"},
	} {
		contains(t, command(t, 1, c.reference, c.results), c.want)
	}
	var out strings.Builder
	if run([]string{"one"}, &out, &out) != 2 || run([]string{"-what"}, &out, &out) != 2 {
		t.Error("wrong usage has another exit code than 2")
	}
	if run([]string{"no-such-file", "neither"}, &out, &out) != 1 {
		t.Error("a missing file has another exit code than 1")
	}
}
