package scbench

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/compat/outdir"
)

// files lists what is below dir.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			path, err = filepath.Rel(dir, path)
			all = append(all, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func write(dir string, problems []Problem) error {
	return outdir.Export(dir, "scbench", func(out *outdir.Dir) error { return Write(out, dir, problems) })
}

// Files of an earlier run do not stay: neither the report of a checkpoint that now has none, nor files of a checkpoint
// that was not judged now.
func TestWriteLeavesNothingOld(t *testing.T) {
	dir := t.TempDir()
	top := []string{"checkpoint_results.jsonl", "p/a/evaluation.json", "p/a/evaluation/report.json", "p/a/evaluation/stderr.txt", "p/a/evaluation/stdout.txt", "result.json"}
	top = append([]string{outdir.ListName}, top...)
	c := graded("a", "core=P")
	c.Log, c.Report = []byte("said\n"), []byte("{}")
	problems := []Problem{{Name: "p", Path: "p", Checkpoints: []*Checkpoint{c}}}
	for _, try := range []struct {
		name   string
		change func()
		want   []string
		solved string
	}{
		{"everything", func() {}, top, `"checkpoints_solved": 1,`},
		{"again", func() {}, top, `"checkpoints_solved": 1,`},
		{"no report", func() { c.Report = nil }, slices.DeleteFunc(slices.Clone(top), func(name string) bool { return strings.HasSuffix(name, "report.json") }), `"checkpoints_solved": 1,`},
		{"not judged", func() { problems[0].Checkpoints[0] = unjudged("a") }, []string{outdir.ListName, "checkpoint_results.jsonl", "result.json"}, `"checkpoints_solved": 0,`},
	} {
		try.change()
		if err := write(dir, problems); err != nil {
			t.Fatal(err)
		}
		if got := files(t, dir); !slices.Equal(got, try.want) {
			t.Errorf("%s: %q, want %q", try.name, got, try.want)
		}
		result, err := os.ReadFile(filepath.Join(dir, "result.json"))
		if err != nil || !strings.Contains(string(result), `"num_checkpoints": 1,`) || !strings.Contains(string(result), try.solved) {
			t.Errorf("%s: %s, %v", try.name, result, err)
		}
	}
}

// Files with the right content are not rewritten, next to any other files.
func TestWriteAgain(t *testing.T) {
	dir := t.TempDir()
	problems := []Problem{{Name: "kv", Path: "kv", Checkpoints: []*Checkpoint{graded("checkpoint_1", "core=P")}}}
	evaluation := filepath.Join(dir, "kv", "checkpoint_1", "evaluation.json")
	rewritten := func() bool {
		t.Helper()
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(evaluation, old, old); err != nil {
			t.Fatal(err)
		}
		if err := write(dir, problems); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(evaluation)
		if err != nil {
			t.Fatal(err)
		}
		return time.Since(info.ModTime()) < 30*time.Minute
	}
	if err := write(dir, problems); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(evaluation)
	if err != nil {
		t.Fatal(err)
	}
	if rewritten() {
		t.Error("an equal file was written again")
	}
	other := bytes.Replace(want, []byte(`"schema_version": 1`), []byte(`"schema_version": 2`), 1)
	if err := os.WriteFile(evaluation, other, 0o644); err != nil {
		t.Fatal(err)
	}
	if !rewritten() {
		t.Error("a file of the same size with other content was left")
	}
	if got, err := os.ReadFile(evaluation); err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %s, %v", got, err)
	}
}

// Buckets are named after the checkpoint in a test's file name, in the order of the report; an id in two files of a
// bucket is duplicated.
func TestBuckets(t *testing.T) {
	c := graded("checkpoint_2", "core=P regression=PF core=F")
	tests := c.Result.Tests
	tests[1].Checkpoint, tests[2].Checkpoint = "nested", "checkpoint_9"
	got, err := Evaluation(c)
	if err != nil {
		t.Fatal(err)
	}
	const want = `  "tests": {
    "checkpoint_2-Core": {
      "passed": [
        "test_core_0"
      ],
      "failed": [
        "test_core_0"
      ]
    },
    "nested-Regression": {
      "passed": [
        "test_regression_0"
      ],
      "failed": []
    },
    "checkpoint_9-Regression": {
      "passed": [],
      "failed": [
        "test_regression_1"
      ]
    }
  },
  "pass_counts": {
    "Core": 1,
    "Regression": 1
  },
  "total_counts": {
    "Core": 2,
    "Regression": 2
  },
`
	if !strings.Contains(string(got), want) {
		t.Errorf("got %s", got)
	}
	if text, err := Evaluation(unjudged("a")); err == nil {
		t.Errorf("what was not judged has %s", text)
	}
}

// Characters that Python escapes, and others.
func TestEscapes(t *testing.T) {
	const want = `"\u0000\b\t\n\f\r\u001b \"\\/<&>~\u007f\u0080\u00e9\u2028\ud7ff\ue000\uffff\ud83d\ude00"`
	got, err := encode("\x00\b\t\n\f\r\x1b \"\\/<&>~\x7f\u0080é\u2028\ud7ff\ue000\uffff\U0001f600", "")
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

// An invalid problem counts, but leaves no files; its neighbour and unknown files in its directory stay.
func TestWriteInvalid(t *testing.T) {
	dir := t.TempDir()
	p, q := graded("a", "core=P"), graded("b", "core=P")
	problems := []Problem{{Name: "p", Path: "p", Checkpoints: []*Checkpoint{p}}, {Name: "q", Path: "q", Checkpoints: []*Checkpoint{q}}}
	if err := write(dir, problems); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"p/a/snapshot.py", "p/notes.txt", "p/a/evaluation/notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	problems[0] = Problem{Name: "p", Path: "p", Invalid: true}
	problems = append(problems, Problem{Name: "new", Path: "new", Invalid: true})
	if err := write(dir, problems); err != nil {
		t.Fatal(err)
	}
	want := []string{outdir.ListName, "checkpoint_results.jsonl", "p/a/evaluation/notes.txt", "p/a/snapshot.py", "p/notes.txt",
		"q/b/evaluation.json", "q/b/evaluation/stderr.txt", "q/b/evaluation/stdout.txt", "result.json"}
	if got := files(t, dir); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	result, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"num_problems": 3,`, `"num_checkpoints": 1,`, `"problem_solved": 1.0,`, `"pct_problems_solved": 33.3`} {
		if !strings.Contains(string(result), want) {
			t.Errorf("no %s in %s", want, result)
		}
	}
}
