package harbor

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend/kinds"
	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// layJob creates a project of tasks, each with a test, and a job with a number of trials of each. Every third trial of
// a task has a separate answer.
func layJob(t testing.TB, dir string, tasks, trials int) {
	config, files := "", map[string]string{}
	for i := range tasks {
		name := "task" + strconv.Itoa(i)
		config += fmt.Sprintf("problem %q {\n  command {\n    root = \"tests/%s\"\n    directory = \"grade\"\n    solution = \"answer\"\n    argv = [\"sh\", \"test.sh\"]\n  }\n}\n", name, name)
		files["tests/"+name+"/test.sh"] = "read n <../answer\necho $((n + " + strconv.Itoa(i) + "))\n"
		for j := range trials {
			trial := fmt.Sprintf("jobs/j/%s__%05d/", name, j)
			files[trial+"config.json"] = "{}"
			files[trial+"result.json"] = encodeTrial(filepath.Base(trial), "org/"+name, object{"started_at": fmt.Sprintf("2026-11-01T10:%02d:%02dZ", j/60%60, j%60)})
			files[trial+"artifacts/manifest.json"] = artifactManifest("/app/answer", "file")
			files[trial+"artifacts/app/answer"] = strconv.Itoa(j/3) + "\n"
		}
	}
	files["fevalgraph.hcl"] = config + "solution \"recorded\" { harbor_job = \"jobs/j\" }\n"
	lay(t, dir, files)
}

func optionsFor(dir string) eval.Options {
	return eval.Options{
		Inputs:     lang.Inputs{Dir: dir},
		Kinds:      kinds.All(),
		Benchmarks: []plan.Benchmark{Benchmark()},
		LookupEnv: func(name string) (string, bool) {
			if name == "FEVALGRAPH_CACHE_DIR" {
				return filepath.Join(dir, "store"), true
			}
			return os.LookupEnv(name)
		},
	}
}

// Of a job that was graded, one changed test has exactly the trials of its task graded again.
func TestIncremental(t *testing.T) {
	tasks, trials := longtest.Size(4, 10), longtest.Size(15, 60)
	dir := t.TempDir()
	layJob(t, dir, tasks, trials)
	o := optionsFor(dir)
	run := func(what string, want int) *eval.Outcome {
		t.Helper()
		out, err := eval.Run(t.Context(), o, eval.Request{})
		if err != nil || out.Cells != tasks*trials || out.End.Executed != want {
			t.Fatalf("%s: %+v, %v; want %d executed nodes", what, out.End, err, want)
		}
		return out
	}
	out, err := eval.Run(t.Context(), o, eval.Request{})
	if err != nil || out.End.Broken+out.End.Failed > 0 || out.Cells != tasks*trials {
		t.Fatalf("%+v, %v", out, err)
	}
	run("unchanged", 0)

	test := filepath.Join(dir, "tests", "task1", "test.sh")
	if err := os.WriteFile(test, []byte("read n <../answer\necho $((n + 100))\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	different := (trials + 2) / 3                 // answers; equal ones are judged once
	again := run("a test changed", 1+2*different) // the test; of each answer a command and a score
	results, err := again.Results()
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range results.Cells {
		if n, _ := strconv.Atoi(cell.Solution[len(cell.Solution)-5:]); cell.Problem == "task1" && *cell.Score != float64(n/3+100) {
			t.Errorf("%s: %v", cell.Solution, *cell.Score)
		}
	}

	// Equal rewards by another test have other measurements, so scores run again.
	if err := os.WriteFile(test, []byte("read n <../answer\necho $((100 + n))\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run("a test changed to the same effect", 1+2*different)
}
