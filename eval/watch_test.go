package eval_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
)

// newWatch returns a watch of a project after a run, with stable inputs.
func newWatch(t *testing.T, o eval.Options, r eval.Request) *eval.Watch {
	t.Helper()
	stabilize(t, o)
	w := eval.NewWatch(o)
	if _, err := w.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	// The run made files in a directory that it listed.
	for range 2 {
		if path, again := w.Compare(t.Context()); again {
			t.Fatalf("after the run %s is different, and leads to another", path)
		}
		stabilize(t, o)
	}
	if path, _ := w.Compare(t.Context()); path != "" {
		t.Fatalf("long after the run %s is different", path)
	}
	return w
}

func write(t *testing.T, o eval.Options, name, content string) {
	t.Helper()
	if err := lay(o.Dir, map[string]string{name: content}); err != nil {
		t.Fatal(err)
	}
}

func add(t *testing.T, o eval.Options, name, content string) {
	t.Helper()
	was, err := os.ReadFile(filepath.Join(o.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	write(t, o, name, string(was)+content)
}

// A change leads to another run exactly if it changes a node or the configuration.
func TestWatchRunsForWhatMatters(t *testing.T) {
	const export = "\nsuite \"all\" {\n  matrix { solution = solution }\n}\nexport \"json\" \"all\" {\n  from = suite.all\n  path = \"all.json\"\n}\n"
	for name, c := range map[string]struct {
		change           func(t *testing.T, o eval.Options)
		different, again bool
	}{
		"nothing":    {func(*testing.T, eval.Options) {}, false, false},
		"a solution": {func(t *testing.T, o eval.Options) { write(t, o, "a.txt", "5\n") }, true, true},
		"the grader": {func(t *testing.T, o eval.Options) { add(t, o, "double/grade.sh", "# more\n") }, true, true},
		"a problem": {func(t *testing.T, o eval.Options) {
			add(t, o, "fevalgraph.hcl", "problem \"third\" {\n  command {\n    root     = \"double\"\n    solution = \"answer.txt\"\n    argv     = [\"true\"]\n  }\n}\n")
		}, true, true},
		"an error": {func(t *testing.T, o eval.Options) { add(t, o, "fevalgraph.hcl", "nonsense\n") }, true, true},
		"one gone": {func(t *testing.T, o eval.Options) { os.Remove(filepath.Join(o.Dir, "a.txt")) }, true, true},
		"a remark": {func(t *testing.T, o eval.Options) { add(t, o, "fevalgraph.hcl", "# a remark\n") }, true, false},
		"a time": {func(t *testing.T, o eval.Options) {
			os.Chtimes(filepath.Join(o.Dir, "fevalgraph.hcl"), time.Now(), time.Now())
		}, true, false},
		"another file":          {func(t *testing.T, o eval.Options) { write(t, o, "beside.txt", "x") }, true, false},
		"the export":            {func(t *testing.T, o eval.Options) { write(t, o, "all.json", "x") }, false, false},
		"the state":             {func(t *testing.T, o eval.Options) { write(t, o, ".fevalgraph/x", "x") }, false, false},
		"a run of this project": {func(t *testing.T, o eval.Options) { mustRun(t, o, eval.Request{}) }, false, false},
		"the same bytes":        {func(t *testing.T, o eval.Options) { write(t, o, "a.txt", "1\n") }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _ := tree(t)
			add(t, o, "fevalgraph.hcl", export)
			w := newWatch(t, o, eval.Request{})
			c.change(t, o)
			stabilize(t, o)
			path, again := w.Compare(t.Context())
			if path != "" != c.different || again != c.again {
				t.Fatalf("different: %q, again: %v; want %v, %v", path, again, c.different, c.again)
			}
			if again {
				return
			}
			if path, _ := w.Compare(t.Context()); path != "" {
				t.Errorf("%s is still different", path)
			}
		})
	}
}

// Changes outside the selection do not start a run, nor do changes that were undone.
func TestWatchRunsNothingForNothing(t *testing.T) {
	t.Parallel()
	o, _ := tree(t)
	w := newWatch(t, o, eval.Request{Selection: eval.Selection{Targets: []string{"problem=other"}}})
	write(t, o, "a.txt", "5\n")
	if path, again := w.Compare(t.Context()); again {
		t.Errorf("%s, which is not selected, starts a run", path)
	}
	write(t, o, "double/grade.sh", "kill -9 $$\n")
	stabilize(t, o)
	if _, err := w.Run(t.Context(), eval.Request{}); err != nil {
		t.Log(err)
	}
	touch := func() {
		if err := os.Chtimes(filepath.Join(o.Dir, "fevalgraph.hcl"), time.Now(), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	touch()
	if path, again := w.Compare(t.Context()); path == "" || again {
		t.Errorf("%q leads to a run: %v", path, again)
	}
	write(t, o, "fevalgraph.hcl", "problem \"p\" {\n")
	stabilize(t, o)
	if _, err := w.Run(t.Context(), eval.Request{}); err == nil {
		t.Fatal("an invalid configuration is not an error")
	}
	touch()
	if path, again := w.Compare(t.Context()); path == "" || again {
		t.Errorf("%q: the same error is shown again: %v", path, again)
	}
	write(t, o, "fevalgraph.hcl", "problem {\n")
	if path, again := w.Compare(t.Context()); !again {
		t.Errorf("%q: another error is not shown", path)
	}
}

// A watch of the status wakes up after a change of an input, and after the end of any run.
func TestWatchOfStatus(t *testing.T) {
	t.Parallel()
	o, _ := tree(t)
	mustRun(t, o, eval.Request{})
	stabilize(t, o)
	w := eval.NewWatch(o)
	show := func() {
		t.Helper()
		if _, _, err := w.Status(t.Context(), eval.Selection{}); err != nil {
			t.Fatal(err)
		}
	}
	show()
	await.Until(t, "the last run's end has settled", func() bool {
		path, _ := w.Compare(t.Context())
		if path != "" {
			show()
		}
		return path == ""
	})
	mustRun(t, o, eval.Request{})
	if path, again := w.Compare(t.Context()); path != event.LatestFile(o.StateDir()) || !again {
		t.Errorf("after a run %q is different, again: %v", path, again)
	}
	change, err := w.Wait(t.Context())
	if err != nil || !change.Run {
		t.Errorf("%+v, %v", change, err)
	}
}
