package eval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/upkeep"
	"github.com/fevalgraph/fevalgraph/event"
)

// tree returns a project of two problems; the first has enough solutions for two partitions. Every file is old enough
// for its state to be trusted.
func tree(t *testing.T) (o eval.Options, solutions []string) {
	t.Helper()
	dir := t.TempDir()
	begins := func(name string) bool { // as plan divides cells
		h := fnv.New32a()
		h.Write([]byte(name))
		return h.Sum32()%256 == 0
	}
	second := ""
	for i := 0; second == ""; i++ {
		if name := fmt.Sprintf("s%04d", i); begins(name) {
			second = name
		}
	}
	solutions = []string{"a", second, second + "x"}
	var b strings.Builder
	for _, problem := range []string{"double", "other"} {
		fmt.Fprintf(&b, `
problem %q {
  command {
    root     = "double"
    solution = "answer.txt"
    argv     = ["/bin/sh", "grade.sh"]
    score { marker = "score" }
  }
}
`, problem)
	}
	files := map[string]string{"double/grade.sh": example["double/grade.sh"]}
	for i, name := range solutions {
		fmt.Fprintf(&b, "solution %q {\n  problem = problem.double\n  source = %q\n}\n", name, name+".txt")
		files[name+".txt"] = fmt.Sprintln(i + 1)
	}
	fmt.Fprint(&b, "solution \"one\" {\n  problem = problem.other\n  source = \"one.txt\"\n}\n")
	files["one.txt"], files["fevalgraph.hcl"] = "7\n", b.String()
	if err := lay(dir, files); err != nil {
		t.Fatal(err)
	}
	return optionsFor(dir), solutions
}

// stabilize waits until the states of the project's files can be trusted, which depends on the clock of the file
// system.
func stabilize(t *testing.T, o eval.Options) {
	t.Helper()
	var youngest time.Time
	err := filepath.WalkDir(o.Dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".fevalgraph" || d.Name() == "store") {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err == nil && info.ModTime().After(youngest) {
			youngest = info.ModTime()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(youngest.Add(300 * time.Millisecond)))
}

func mustRun(t *testing.T, o eval.Options, r eval.Request) *eval.Outcome {
	t.Helper()
	out, err := eval.Run(t.Context(), o, r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// scores of an outcome by solution.
func scores(t *testing.T, out *eval.Outcome) string {
	t.Helper()
	results, err := out.Results()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, cell := range results.Cells {
		fmt.Fprintf(&b, "%s/%s=%v ", cell.Problem, cell.Solution, *cell.Score)
	}
	return strings.TrimSpace(b.String())
}

// reusedPartitions returns the number of partitions that the record of a run reuses, and the nodes that the run decided.
func reusedPartitions(t *testing.T, o eval.Options, run string) (partitions int, decided []string) {
	t.Helper()
	err := event.OpenRun(o.Records(), run).Each(func(e event.Event) bool {
		switch e := e.(type) {
		case event.NodesSame:
			partitions++
		case event.NodeDone:
			decided = append(decided, e.Addr)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return partitions, decided
}

func edit(t *testing.T, o eval.Options, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(o.Dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestOnlyStalePartitionsAreCompiled follows one edit through the partitions.
func TestOnlyStalePartitionsAreCompiled(t *testing.T) {
	t.Parallel()
	o, solutions := tree(t)
	stabilize(t, o)
	first := mustRun(t, o, eval.Request{})
	want := scores(t, first)
	same := mustRun(t, o, eval.Request{})
	if partitions, decided := reusedPartitions(t, o, same.Run); partitions != 3 || len(decided) > 0 || same.End.Nodes != first.End.Nodes || same.End.Cached != first.End.Nodes {
		t.Errorf("unchanged: %d partitions reused, %q decided; %+v", partitions, decided, same.End)
	}
	if got := scores(t, same); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	edit(t, o, solutions[0]+".txt", "50\n")
	stabilize(t, o)
	edited := mustRun(t, o, eval.Request{})
	partitions, decided := reusedPartitions(t, o, edited.Run)
	for _, addr := range decided {
		if strings.Contains(addr, solutions[1]) || strings.Contains(addr, "other") {
			t.Errorf("%s was decided about, and is in a fresh partition", addr)
		}
	}
	if partitions != 2 || edited.End.Nodes != first.End.Nodes {
		t.Errorf("%d partitions are taken over, of %+v", partitions, edited.End)
	}
	if got, want := scores(t, edited), strings.Replace(want, "double/a=2 ", "double/a=100 ", 1); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	recorded, err := eval.Results(o, edited.Run)
	if err != nil || len(recorded.Cells) != 4 {
		t.Errorf("the record has %d cells of 4: %v", len(recorded.Cells), err)
	}
}

// TestSharedSources: a file that two partitions read is different for both, even when a
// run of one has seen it.
func TestSharedSources(t *testing.T) {
	t.Parallel()
	o, solutions := tree(t)
	stabilize(t, o)
	mustRun(t, o, eval.Request{})
	mustRun(t, o, eval.Request{})
	edit(t, o, "double/grade.sh", "echo score $((3 * $(cat answer.txt)))\n")
	stabilize(t, o)
	mustRun(t, o, eval.Request{Selection: eval.Selection{Targets: []string{"solution=" + solutions[0]}}})
	want := fmt.Sprintf("double/a=3 double/%s=6 double/%sx=9 other/one=21", solutions[1], solutions[1])
	for range 2 {
		if got := scores(t, mustRun(t, o, eval.Request{})); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestPlanAgreesWithRun: after any edit, plan lists exactly the nodes that then run; all others are served.
func TestPlanAgreesWithRun(t *testing.T) {
	t.Parallel()
	o, solutions := tree(t)
	edits := map[string]func(){
		"nothing":    func() {},
		"a solution": func() { edit(t, o, solutions[2]+".txt", "9\n") },
		"the grader": func() { edit(t, o, "double/grade.sh", "echo score $((5 * $(cat answer.txt)))\n") },
		"another comment": func() {
			content, err := os.ReadFile(filepath.Join(o.Dir, "fevalgraph.hcl"))
			if err != nil {
				t.Fatal(err)
			}
			edit(t, o, "fevalgraph.hcl", "# comment\n"+string(content))
		},
	}
	mustRun(t, o, eval.Request{})
	for name, change := range edits {
		change()
		stabilize(t, o)
		plan, err := eval.Plan(t.Context(), o, eval.Request{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := eval.Plan(t.Context(), o, eval.Request{EachNode: true})
		if err != nil {
			t.Fatal(err)
		}
		stale := func(d *eval.Decisions) (names []string) {
			for n := range d.Nodes {
				if n.State != eval.Fresh {
					names = append(names, n.Addr)
				}
			}
			return names
		}
		if got, want := stale(plan), stale(all); fmt.Sprint(got) != fmt.Sprint(want) || plan.Total != all.Total || plan.Fresh != all.Fresh {
			t.Errorf("%s: plan has %q of %d, and with each node %q of %d", name, got, plan.Total, want, all.Total)
		}
		out := mustRun(t, o, eval.Request{})
		if out.End.Executed > len(stale(plan)) || len(stale(plan)) == 0 && out.End.Executed > 0 {
			t.Errorf("%s: %d nodes ran, and plan has %q", name, out.End.Executed, stale(plan))
		}
	}
}

// TestStatusAndExplainOfFreshPartitions: nodes without compilation are shown unchanged.
func TestStatusAndExplainOfFreshPartitions(t *testing.T) {
	t.Parallel()
	o, _ := tree(t)
	stabilize(t, o)
	mustRun(t, o, eval.Request{})
	mustRun(t, o, eval.Request{})
	for _, s := range []eval.Selection{{}, {Targets: []string{"problem=other"}}} {
		all, _, err := eval.Status(t.Context(), o, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			if one.State != eval.Fresh || one.Last == nil || one.Last.Score == nil {
				t.Errorf("%+v: %+v", one.Cell, one)
			}
		}
		if want := 4 - 3*len(s.Targets); len(all) != want {
			t.Errorf("%d checkpoints of %v, want %d", len(all), s, want)
		}
	}
	for _, arg := range []string{"command:other/one@local.host", "score:oth*"} {
		e, err := eval.Explain(t.Context(), o, arg)
		if err != nil {
			t.Fatal(err)
		}
		if e.State != eval.Fresh || len(e.Fields) == 0 {
			t.Errorf("%s: %+v", arg, e)
		}
	}
}

// TestLostStore: without the store, fresh partitions still have their results; nodes that an edit makes stale run again
// with all their dependencies.
func TestLostStore(t *testing.T) {
	t.Parallel()
	o, solutions := tree(t)
	stabilize(t, o)
	mustRun(t, o, eval.Request{})
	for _, part := range []string{"cas", "ac"} {
		if err := os.RemoveAll(filepath.Join(o.Dir, "store", part)); err != nil {
			t.Fatal(err)
		}
	}
	want := fmt.Sprintf("double/a=2 double/%s=4 double/%sx=6 other/one=14", solutions[1], solutions[1])
	if got := scores(t, mustRun(t, o, eval.Request{})); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	edit(t, o, solutions[1]+".txt", "20\n")
	stabilize(t, o)
	want = strings.Replace(want, "=4 ", "=40 ", 1)
	if got := scores(t, mustRun(t, o, eval.Request{})); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestCleanKeepsPartitionsInUse: old partition files go with the runs that name them.
func TestCleanKeepsPartitionsInUse(t *testing.T) {
	t.Parallel()
	o, solutions := tree(t)
	stabilize(t, o)
	mustRun(t, o, eval.Request{})
	for i := range 3 {
		edit(t, o, solutions[0]+".txt", fmt.Sprintln(30+i))
		stabilize(t, o)
		mustRun(t, o, eval.Request{})
	}
	dir := filepath.Join(o.StateDir(), "partitions")
	count := func() int {
		files, err := filepath.Glob(filepath.Join(dir, strings.Repeat("?", 64)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			old := time.Now().Add(-2 * time.Hour)
			if err := os.Chtimes(file, old, old); err != nil {
				t.Fatal(err)
			}
		}
		return len(files)
	}
	if n := count(); n != 6 {
		t.Fatalf("%d partition files, want 6", n)
	}
	if _, err := upkeep.Clean(t.Context(), o, upkeep.CleanRequest{KeepRuns: 2}); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 4 { // three of the last run, and one of the previous run
		t.Errorf("%d partition files are left, want 4", n)
	}
	out := mustRun(t, o, eval.Request{})
	if partitions, _ := reusedPartitions(t, o, out.Run); partitions != 3 {
		t.Errorf("%d partitions are taken over after clean", partitions)
	}
	runs, err := event.Runs(o.Records())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range runs {
		if r, err := eval.Results(o, id); err != nil || len(r.Cells) != 4 {
			t.Errorf("run %s: %+v, %v", id, r, err)
		}
	}
}

// TestDirectoryBecomesLink: a path that a link turns into one outside the project is an error for a project that was
// evaluated before, as for a new one.
func TestDirectoryBecomesLink(t *testing.T) {
	t.Parallel()
	o, _ := tree(t)
	if err := lay(o.Dir, map[string]string{
		"texts/data/n.txt": "text",
		"more.feval.hcl":   "locals {\n  text = file(\"texts/data/n.txt\")\n}\n",
	}); err != nil {
		t.Fatal(err)
	}
	stabilize(t, o)
	mustRun(t, o, eval.Request{})
	stabilize(t, o)
	mustRun(t, o, eval.Request{})
	elsewhere := filepath.Join(t.TempDir(), "data")
	inside := filepath.Join(o.Dir, "texts", "data")
	if err := errors.Join(os.Rename(inside, elsewhere), os.Symlink(elsewhere, inside)); err != nil {
		t.Fatal(err)
	}
	if _, err := eval.Plan(t.Context(), o, eval.Request{}); err == nil || !strings.Contains(err.Error(), "outside") {
		t.Errorf("got %v, want a file outside of the project", err)
	}
}

// TestRecordOfEachNode: a reader of a record sees every node, however the run found out
// about it.
func TestRecordOfEachNode(t *testing.T) {
	t.Parallel()
	o, _ := tree(t)
	stabilize(t, o)
	first := mustRun(t, o, eval.Request{})
	same := mustRun(t, o, eval.Request{})
	each := mustRun(t, o, eval.Request{EachNode: true, Progress: sink(func(event.Event) {})})
	for _, id := range []string{first.Run, same.Run, each.Run} {
		e, err := eval.ExplainPast(o, "command:other/one@local.host", id)
		if err != nil {
			t.Fatal(err)
		}
		if e.Key == "" || id != first.Run && e.State != string(event.Cached) {
			encoded, _ := json.Marshal(e)
			t.Errorf("run %s: %s", id, encoded)
		}
	}
}

type sink func(event.Event)

func (s sink) Emit(e event.Event) { s(e) }

// TestRetryWithSecrets: a configuration with a secret is evaluated when something has to be
// compiled, and that does not make a partition fresh again which a retry has dropped.
func TestRetryWithSecrets(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "secret \"home\" {\n  env = \"HOME\"\n}\n"} {
		o, solutions := tree(t)
		content, err := os.ReadFile(filepath.Join(o.Dir, "fevalgraph.hcl"))
		if err != nil {
			t.Fatal(err)
		}
		edit(t, o, "fevalgraph.hcl", secret+string(content))
		edit(t, o, solutions[0]+".txt", "no number\n") // which gives no score
		stabilize(t, o)
		mustRun(t, o, eval.Request{})
		stabilize(t, o) // the state directory was made
		if same := mustRun(t, o, eval.Request{}); same.End.Executed > 0 {
			t.Errorf("secret %q: %d nodes ran again", secret, same.End.Executed)
		}
		if out := mustRun(t, o, eval.Request{Retry: []string{"error"}}); out.End.Executed == 0 {
			t.Errorf("secret %q: no node was retried", secret)
		}
	}
}
