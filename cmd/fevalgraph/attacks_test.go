//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// attackTracks are the problems of testdata/attacks, and the backends that judge them.
var attackTracks = []struct {
	problem, label string
	backends       []string
}{
	{"add", "pytest", []string{"local.host", "docker.box"}},
	{"grade", "command", []string{"local.host", "docker.box"}},
	{"lenient", "lenient", []string{"local.host", "docker.box"}},
	{"confined", "confined", []string{"local.host", "docker.box"}},
	{"imported", "imported", []string{"local.host", "docker.box"}},
	{"tested", "tested", []string{"local.host", "docker.box"}},
	{"judge", "judge", []string{"gojudge.judge"}},
	{"verify", "verifier", []string{"local.host", "docker.box"}},
}

// sampledAttacks lists the attacks of make test, by problem: one for each mechanism. Attacks with an asterisk touch the edge
// of a container, and are judged there as well. Long tests have all, everywhere.
var sampledAttacks = map[string]string{
	"add": `*forged_report forged_report_late regroups_tests opens_pytests_memory finds_the_key swaps_plugin module_before_tests
		report_as_pipe report_as_link *kills_everything interrupts_pytest rewrites_tests rewrites_late_data replaces_workspace
		own_conftest own_modules *set_up_cache set_up_pytest *set_up_daemon *leaves_a_process leaves_locked_files
		*writes_everywhere *reads_environments *reads_the_project *talks_to_neighbours sleeps link_out fifo odd_output`,
	"grade": `*writes_score score_as_link *kills_grader *rewrites_script_for_a_moment rewrites_late_module replaces_late_directory
		shadows_late_module *types_into_terminal *reaches_sockets *reaches_host *reads_keyrings *traces_grader *opens_memory *marks_one
		leases_files`,
	"lenient":  "kills_after_scoring",
	"confined": "*reads_want reads_through_another claims_unusable",
	"imported": "exits patches_all equals_all exports_builtins *hides_cases *reads_memory writes_descriptor outlives sends_anything hangs",
	"tested":   "patches_reports empties_tests *forges_seal",
	"judge":    "quotes_ratio allocates calls_the_kernel includes_files crashes_checker includes_endless_device writes_output",
	"verify":   "writes_reward_that_wins reward_as_link *kills_script *rewards_late *puts_programs_in_place *many_files spoils_reward",
}

// waitingAttacks lists the attacks that only a limit ends, by problem. They have a short one; all others, and the right
// solution, have limits that no machine is too busy for.
var waitingAttacks = map[string]string{
	"add": "prints_much sleeps stops_pytest", "grade": "prints_much score_as_pipe sleeps stops_grader",
	"confined": "prints_much score_as_pipe sleeps stops_grader", "imported": "hangs sends_much stops", "tested": "hangs sends_much stops",
	"judge": "", "verify": "prints_much reward_as_pipe sleeps",
}

// attackLimits limits a project of attacks, in seconds.
type attackLimits struct{ program, session int }

var (
	patientLimits = attackLimits{program: 300, session: 900}
	shortLimits   = attackLimits{program: 5, session: 15}
)

// attackSelection selects attacks of a problem: whether it is judged, and whether in a container.
type attackSelection func(problem, solution string) (judged, contained bool)

// selectedAttacks selects a sample of attacks, or all, with the right and the wrong solution.
func selectedAttacks(problem, solution string) (judged, contained bool) {
	if solution == "right" || solution == "wrong" || longtest.Asked() {
		return true, true
	}
	sample := strings.Fields(sampledAttacks[problem])
	contained = slices.Contains(sample, "*"+solution)
	return contained || slices.Contains(sample, solution), contained
}

// set replaces the limits in the files of a project.
func (l attackLimits) set(t *testing.T, dir string) {
	t.Helper()
	seconds := strings.NewReplacer("@PROGRAM@", strconv.Itoa(l.program), "@SESSION@", strconv.Itoa(l.session))
	for name, text := range snapshot(t, dir) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(seconds.Replace(text)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// openAttacks are the attacks that a backend does not hold, as SECURITY.md documents, by problem, solution and backend
// ("" means all), with their worst outcome.
var openAttacks = []struct{ problem, solution, backend, worst string }{
	{"grade", "scores_late", "", "raised"},
	{"grade", "opens_memory", "", "raised"},            // of a grader, which has the same user
	{"grade", "traces_grader", "docker.box", "raised"}, // as above
	{"grade", "reaches_host", "docker.box", "raised"},  // by AF_VSOCK, where the daemon's filter of system calls has it
	{"grade", "shadows_late_module", "", "raised"},
	{"lenient", "kills_after_scoring", "", "raised"},
	{"confined", "reaches_host", "docker.box", "raised"},
	{"verify", "rewards_late", "", "raised"},
	{"verify", "puts_programs_in_place", "docker.box", "raised"}, // as the image's root
}

// attackKinds name what attacks try, by patterns of their names; the first that matches decides.
var attackKinds = []struct {
	kind     string
	patterns []string
}{
	{"forge what counts", []string{"forge*", "regroups_*", "report_as_*", "score_as_*", "reward_as_*", "writes_score*", "writes_reward*", "*s_late", "quotes_*", "prints_ratio_*", "opens_*", "finds_*", "prints_a_summary", "removes_reward", "spoils_reward", "logs_as_*"}},
	{"change what judges", []string{"rewrites_*", "replaces_*", "own_*", "set_up_*", "swaps_*", "module_*", "shadows_*", "puts_*"}},
	{"end or hold up what judges", []string{"kills_*", "terminates_*", "interrupts_*", "stops_*", "*_checker", "claims_*", "includes_*"}},
	{"use up the machine", []string{"prints_much", "sleeps", "forks", "allocates", "many_files", "large_files", "compiles_forever", "too_large"}},
	{"read what is not its own", []string{"reads_*", "link_*"}},
	{"reach beyond its cell", []string{"writes_*", "leaves_*", "talks_*", "calls_*", "leases_*"}},
	{"be odd", []string{"*"}},
}

// attackSummary counts runs of attacks by kind: judged like a wrong solution (held), without a verdict because of the
// attack (detected), successful as SECURITY.md documents (documented), and successful otherwise (open).
type attackSummary map[string]*[4]int

const (
	attackHeld = iota
	attackDetected
	attackDocumented
	attackOpen
)

func (s attackSummary) add(name string, class verdict.Class, outcome string, documented bool) {
	for _, k := range attackKinds {
		if !slices.ContainsFunc(k.patterns, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok }) {
			continue
		}
		if s[k.kind] == nil {
			s[k.kind] = &[4]int{}
		}
		became := attackOpen
		switch {
		case outcome == "held" && (class == verdict.Judged || class == verdict.SessionTimeout):
			became = attackHeld
		case outcome == "held":
			became = attackDetected
		case documented:
			became = attackDocumented
		}
		s[k.kind][became]++
		return
	}
}

func (s attackSummary) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tRUNS\tHELD\tDETECTED\tDOCUMENTED\tOPEN")
	all := [4]int{}
	row := func(kind string, n [4]int) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\n", kind, n[0]+n[1]+n[2]+n[3], n[0], n[1], n[2], n[3])
	}
	for _, k := range attackKinds {
		if n := s[k.kind]; n != nil {
			row(k.kind, *n)
			for i := range all {
				all[i] += n[i]
			}
		}
	}
	row("all", all)
	w.Flush()
	return b.String()
}

// callersSecret is in the environment of the caller and in files of its project.
const callersSecret = "canary-of-the-caller"

// attackSeconds marks the processes of this test process's attacks, which sleep so many seconds: another suite on the
// machine uses another number.
var attackSeconds = strconv.Itoa(314_000_000 + os.Getpid())

// TestAttacks judges solutions that do everything but solve their problem. None may get a better verdict than a wrong
// solution, be blamed on the machine, affect other cells, or leave anything behind. With -v it prints a table.
func TestAttacks(t *testing.T) {
	if os.Getenv(realVariable) == "" {
		t.Skip("needs Python, uv, a Docker daemon and go-judge; make attacks has them")
	}
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ATTACK\tTRACK\tBACKEND\tOUTCOME\tCLASS")
	cells := judgeAttacks(t, selectedAttacks, nil)
	worst := map[string]int{} // tests passed by the solution that is simply wrong
	for _, cell := range cells {
		if cell.Solution == "wrong" {
			worst[cell.Problem+cell.Backend] = merit(cell)
		}
	}
	count, summary := 0, attackSummary{}
	for _, cell := range cells {
		outcome := attackOutcome(cell, worst[cell.Problem+cell.Backend])
		if cell.Solution != "right" && cell.Solution != "wrong" {
			count++
			summary.add(cell.Solution, cell.Checkpoints[0].Class, outcome, isOpenAttack(cell, outcome))
		}
		if outcome != "held" && !isOpenAttack(cell, outcome) {
			t.Errorf("%s/%s@%s: %s: %s", cell.Problem, cell.Solution, cell.Backend, outcome, attackMessage(cell))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", cell.Solution, cell.Problem, cell.Backend, outcome, cell.Checkpoints[0].Class)
	}
	w.Flush()
	t.Logf("%d attacks\n%s\n%s", count, table.String(), summary)
}

// judgeAttacks returns the cells of the selected attacks, and checks that these left nothing behind.
func judgeAttacks(t *testing.T, selected attackSelection, env []string) (cells []report.Cell) {
	t.Helper()
	for _, part := range []struct {
		waiting bool
		limits  attackLimits
		jobs    string
	}{{false, patientLimits, "4"}, {true, shortLimits, "8"}} {
		c := attackProject(t, func(problem, solution string) (judged, contained bool) {
			if part.waiting != slices.Contains(strings.Fields(waitingAttacks[problem]), solution) {
				return false, false
			}
			return selected(problem, solution)
		}, part.limits)
		c.env = append(c.env, env...)
		before := snapshot(t, c.dir)
		cmd := c.command("run", "-q", "-j", part.jobs)
		untouched := withCanaries(t, cmd)
		_ = cmd.Run() // results contain the errors
		untouched()
		var results report.Results
		if err := json.Unmarshal([]byte(c.lastKnown()), &results); err != nil {
			t.Fatalf("%v\n%s", err, output(cmd))
		}
		cells = append(cells, results.Cells...)
		c.afterAttacks(before)
	}
	return cells
}

// lastKnown returns the last results of every cell.
func (c *checkout) lastKnown() string {
	cmd := c.command("results", "--format", "json")
	_ = cmd.Run()
	return fmt.Sprint(cmd.Stdout)
}

// attackOutcome returns what became of a cell: "held", or what went wrong.
func attackOutcome(cell report.Cell, worst int) string {
	switch {
	case cell.Solution == "right":
		if slices.ContainsFunc(cell.Checkpoints, func(c report.Checkpoint) bool { return !c.Passed && (c.Score == nil || *c.Score < 100) }) {
			return "harmed"
		}
		return "held"
	case merit(cell) > worst:
		return "raised"
	case misjudged(cell), slices.ContainsFunc(cell.Checkpoints, func(c report.Checkpoint) bool { return !slices.Contains(attackClasses, string(c.Class)) }):
		return "misclassified"
	}
	return "held"
}

// attackClasses lists the outcomes that a submission can cause.
var attackClasses = []string{"judged", "timeout", "no_report", "no_score", "killed", "pytest_failed", "setup_failed", "compile_error", "refused"}

// merit returns how good the judgement of a cell is.
func merit(cell report.Cell) int {
	worth := 0
	for _, c := range cell.Checkpoints {
		if c.Passed {
			worth += 1000
		}
		if c.Score != nil {
			worth += int(*c.Score)
		}
		for _, test := range c.Tests {
			if test.Status == "passed" {
				worth++
			}
		}
	}
	return worth
}

func attackMessage(cell report.Cell) string {
	var all []string
	for _, c := range cell.Checkpoints {
		text := string(c.Class)
		if c.Message != nil {
			text += ": " + *c.Message
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func isOpenAttack(cell report.Cell, outcome string) bool {
	for _, o := range openAttacks {
		if o.problem == cell.Problem && o.solution == cell.Solution && (o.backend == "" || o.backend == cell.Backend) &&
			(o.worst == "raised" || o.worst == outcome) {
			return true
		}
	}
	return false
}

// attackProject makes a project of the selected attacks, with suites for each track.
func attackProject(t *testing.T, selected attackSelection, limits attackLimits) *checkout {
	t.Helper()
	place, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := copyCheckout(t, filepath.Join("testdata", "attacks"), place)
	limits.set(t, c.dir)
	names := map[string][]string{}
	for _, track := range attackTracks {
		for _, f := range attackFiles(t, track.problem) {
			name, _, _ := strings.Cut(f.Name, "/")
			if !slices.Contains(names[track.problem], name) {
				names[track.problem] = append(names[track.problem], name)
			}
			path := filepath.Join(c.dir, "solutions", track.problem, filepath.FromSlash(f.Name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, bytes.ReplaceAll(f.Data, []byte("@SECONDS@"), []byte(attackSeconds)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		names[track.problem] = append(names[track.problem], layRefusedAttacks(t, track.problem, filepath.Join(c.dir, "solutions", track.problem))...)
		names[track.problem] = slices.DeleteFunc(names[track.problem], func(name string) bool { judged, _ := selected(track.problem, name); return !judged })
		for _, b := range track.backends {
			var cells []string
			for _, name := range names[track.problem] {
				if _, contained := selected(track.problem, name); b != "docker.box" || contained && os.Getenv(dockerVariable) != "" {
					cells = append(cells, fmt.Sprintf("solution.%s[%q]", track.problem, name))
				}
			}
			if len(cells) > 0 {
				label, _, _ := strings.Cut(b, ".")
				c.append("fevalgraph.hcl", fmt.Sprintf("\nsuite %q {\n  matrix {\n    solution = [%s]\n    backend  = [backend.%s]\n  }\n}\n", track.label+"_"+label, strings.Join(cells, ", "), b))
			}
		}
	}
	listed, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, callersSecret), []byte("42"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The image has the wheels of these pins, and no newer ones.
	lock, err := os.ReadFile(filepath.Join("testdata", "contained", "fevalgraph.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "fevalgraph.lock"), lock, 0o644); err != nil {
		t.Fatal(err)
	}
	image := "fevalgraph-test/python:latest"
	_, programs, _ := strings.Cut(os.Getenv("PATH"), string(filepath.ListSeparator)) // without the stand-ins
	c.env = append(c.env, "FEVALGRAPH_ISOLATION=full", "FEVALGRAPH_VAR_solutions="+string(listed), "FEVALGRAPH_VAR_image="+image,
		"API_TOKEN="+callersSecret, "DOCKER_HOST="+os.Getenv("DOCKER_HOST"),
		"PATH="+filepath.Dir(os.Getenv(judgeVariable))+":"+programs)
	return c
}

// attackFiles returns the solutions of a problem.
func attackFiles(t *testing.T, problem string) (files []txtar.File) {
	t.Helper()
	archives := []string{problem}
	if other := map[string]string{"tested": "imported", "confined": "grade"}[problem]; other != "" {
		archives = append(archives, other)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(filepath.Join("testdata", "attacks", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, archive.Files...)
	}
	return files
}

// afterAttacks checks that the attacks left nothing behind.
func (c *checkout) afterAttacks(before map[string]string) {
	c.t.Helper()
	after := snapshot(c.t, c.dir)
	for name, was := range before {
		if after[name] != was && !strings.HasPrefix(name, ".fevalgraph") {
			c.t.Errorf("%s of the project changed", name)
		}
	}
	for _, dir := range []string{"/", "/usr", "/etc", "/opt", "/root", filepath.Join(c.place, "home"), "/var/lib"} {
		for _, name := range []string{"fevalgraph-was-here", ".fevalgraph-was-here"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				c.t.Errorf("%s was written to", dir)
			}
		}
	}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, line := range lines {
		if content, err := os.ReadFile(line); err == nil && bytes.Contains(content, []byte("\x00"+attackSeconds+"\x00")) {
			c.t.Errorf("a process of an attack is alive: %q", content)
		}
	}
	c.run("cache", "verify")
}

// snapshot returns the content of a directory's files.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir+"/")] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
