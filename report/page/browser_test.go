package page

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// realVariable makes the tests run that need node, a browser, the bundler and uv. The bundler is
// in FEVALGRAPH_TEST_ESBUILD.
const realVariable = "FEVALGRAPH_TEST_REAL"

// node runs a program of web/test.
func node(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("node", args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("node %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func esbuild(t *testing.T) string {
	t.Helper()
	if os.Getenv(realVariable) == "" {
		t.Skipf("needs node, a browser and a bundler: set %s=1, or use `make test-all`", realVariable)
	}
	path := os.Getenv("FEVALGRAPH_TEST_ESBUILD")
	if path == "" {
		t.Fatal("FEVALGRAPH_TEST_ESBUILD is not set; use `make test-all`")
	}
	return path
}

// TestRebuilt builds web/ again and compares the result with dist/, byte for byte.
func TestRebuilt(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("../../scripts/build-web", esbuild(t), dir).CombinedOutput(); err != nil {
		t.Fatalf("build-web: %v\n%s", err, out)
	}
	for name, embedded := range map[string]string{"app.js": program, "app.css": appStyle} {
		built, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(built, []byte(embedded)) {
			t.Errorf("dist/%s is not what web/ is built into; run `make web`", name)
		}
	}
}

// TestSharedInPage: the page computes the same results as the program.
func TestSharedInPage(t *testing.T) {
	test := filepath.Join(t.TempDir(), "shared.mjs")
	if out, err := exec.Command(esbuild(t), "web/test/shared.ts", "--bundle", "--platform=node", "--format=esm", "--log-level=warning", "--outfile="+test).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	node(t, test, "testdata/shared.json")
}

func chromium(t *testing.T) string {
	t.Helper()
	esbuild(t)
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// browse looks at a page in a browser.
func browse(t *testing.T, what, file string) {
	t.Helper()
	args := []string{"web/test/browser.mjs", chromium(t), what, file}
	if shots := os.Getenv("FEVALGRAPH_TEST_SHOTS"); shots != "" { // to look at
		args = append(args, shots)
	}
	if said := strings.TrimSpace(node(t, args...)); said != "" {
		t.Log(said)
	}
}

// TestHostileInBrowser shows a page with only hostile texts, including lines of 10 MB.
func TestHostileInBrowser(t *testing.T) {
	chromium(t)
	p := sample(4)
	first := &p.Runs[1].Results.Cells[0].Checkpoints[0]
	first.Tests = append(first.Tests, report.Test{Test: verdict.Test{ID: "long", Group: verdict.Core, Status: verdict.TestFailed}, Message: ptr(strings.Repeat("\u202e<b>", 2<<20))})
	p.Nodes = func(*report.Cell) ([]Node, error) {
		return []Node{{Addr: "pytest:" + hostile, State: hostile, Cause: hostile, Files: []string{hostile}, Message: hostile, Log: hostile + strings.Repeat("x", 10<<20), Fields: [][2]string{{hostile, hostile}}}}, nil
	}
	_, _, w := written(t, p, "out.html")
	browse(t, "hostile", w.File)
}

// TestLargeInBrowser shows 100,000 cells. Its figures assume a quiet machine.
func TestLargeInBrowser(t *testing.T) {
	chromium(t)
	const problems, solutions, checkpoints = 200, 500, 3
	r := &report.Results{Schema: report.Schema, Run: "20260102-030405-000001"}
	for n := range problems * solutions {
		cell := report.Cell{Problem: fmt.Sprintf("p%04d", n/solutions), Solution: fmt.Sprintf("s%04d", n%solutions), Backend: "local.host", Repeat: 1, Status: verdict.Success}
		for c := range checkpoints {
			passed := (n*7+c*3)%11 > 2
			status, group := verdict.TestPassed, verdict.Count{Passed: 1, Total: 1}
			if !passed {
				status, group.Passed = verdict.TestFailed, 0
			}
			cell.Checkpoints = append(cell.Checkpoints, report.Checkpoint{Name: fmt.Sprintf("checkpoint_%d", c+1), Class: verdict.Judged, Policy: "core-cases", Passed: passed,
				DurationMS: float64(100 + n%977), Groups: verdict.GroupCounts{verdict.Core: group},
				Tests: []report.Test{{Test: verdict.Test{ID: fmt.Sprintf("test_%d", n%50), File: "tests/test_a.py", Group: verdict.Core, Status: status}}}})
		}
		r.Cells = append(r.Cells, cell)
	}
	n := 0
	p := &Page{Project: "large", Runs: []Run{{ID: r.Run, Ended: true, Results: r}},
		Words: func(c report.Checkpoint) []string {
			return map[bool][]string{true: {"passed", "pass"}, false: {"failed", "fail"}}[c.Passed]
		},
		Nodes: func(c *report.Cell) ([]Node, error) {
			n++
			return []Node{{Addr: "pytest:" + c.Problem, Kind: "pytest", State: "done", Log: random(n, 100)}}, nil
		}}
	_, document, w := written(t, p, "out.html")
	t.Logf("%d bytes of document, %d in all", len(document), w.Bytes)
	if w.Data == "" {
		t.Fatal("all of it is in one file")
	}
	browse(t, "large", w.File)
}

// TestQuickstartInBrowser evaluates the quickstart, edits it, evaluates it again, and looks at
// the report.
func TestQuickstartInBrowser(t *testing.T) {
	chromium(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "fevalgraph")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/fevalgraph").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	project := filepath.Join(dir, "quickstart")
	if err := os.CopyFS(project, os.DirFS("../../examples/quickstart")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(project, ".fevalgraph")); err != nil {
		t.Fatal(err)
	}
	fevalgraph := func(code int, args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = project
		cmd.Env = append(os.Environ(), "FEVALGRAPH_CACHE_DIR="+filepath.Join(dir, "cache"))
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Fatalf("fevalgraph %s ended with %d, want %d\n%s", strings.Join(args, " "), got, code, out)
		}
	}
	fevalgraph(1, "run", "-q")
	if err := os.WriteFile(filepath.Join(project, "solutions/reference/checkpoint_2/tally.py"), []byte("raise SystemExit(3)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	fevalgraph(1, "run", "-q")
	fevalgraph(0, "report")
	browse(t, "views", filepath.Join(project, "report.html"))
}

// TestGalleryInBrowser looks at a page that has every view and every figure.
func TestGalleryInBrowser(t *testing.T) {
	chromium(t)
	_, document, w := written(t, gallery(24, 3), "out.html")
	t.Logf("%d bytes", len(document))
	browse(t, "views", w.File)
}
