//go:build unix

package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	cmpdiff "github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// How many seeds TestDifferential has, the first of them, and how many steps each
// takes. In the directory of the last one, projects and stores stay.
const (
	diffSeedsVariable = "FEVALGRAPH_TEST_DIFF_SEEDS"
	diffFirstVariable = "FEVALGRAPH_TEST_DIFF_FIRST"
	diffStepsVariable = "FEVALGRAPH_TEST_DIFF_STEPS"
	diffKeepVariable  = "FEVALGRAPH_TEST_DIFF_KEEP"
)

// Output before and after an incremental run equals that of a clean run in an empty store, except durations, or is
// marked as stale, and exactly the nodes that a plan calls stale run: for random projects, through random edits, undos
// and disturbances. make test has more seeds and steps, make soak any number.
func TestDifferential(t *testing.T) {
	eachDiffWorld(t, machineOf, func(w *diffWorld, steps int) {
		for w.step = 1; w.step <= steps; w.step++ {
			w.advance()
		}
		w.step = steps
	})
}

// eachDiffWorld tests random projects, one for each seed in the environment, on the machine of the seed. A failure prints how
// to repeat its seed.
func eachDiffWorld(t *testing.T, machine func(seed int) diffMachine, test func(w *diffWorld, steps int)) {
	if os.Getenv(diffSeedsVariable) == "" {
		longtest.Skip(t)
	}
	t.Parallel()
	name := t.Name()
	seeds, first, steps := numberFrom(t, diffSeedsVariable, 2), numberFrom(t, diffFirstVariable, 1), numberFrom(t, diffStepsVariable, 8)
	for seed := first; seed < first+seeds; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newDiffWorld(t, uint64(seed), machine(seed))
			generateProject(w.rng, diffTree(w.c.dir), w.machine.isolated)
			defer func() {
				if t.Failed() {
					t.Logf("the steps so far:\n%s\nonce more: %s=%d %s=1 %s=%d go test -count=1 -run '^%s$' ./cmd/fevalgraph\n%s=DIR keeps the project and the store",
						strings.Join(w.log, "\n"), diffFirstVariable, seed, diffSeedsVariable, diffStepsVariable, w.step, name, diffKeepVariable)
				}
			}()
			test(w, steps)
		})
	}
}

// numberFrom reads a number of the environment.
func numberFrom(t *testing.T, variable string, otherwise int) int {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s: want a positive number", variable, text)
	}
	return n
}

// The clock of the file system ticks within diffTick, so times distinguish earlier writes from later ones.
const diffTick = 220 * time.Millisecond

// diffWorld is a project, edited and disturbed step by step.
type diffWorld struct {
	t        *testing.T
	seed     uint64
	step     int
	rng      *rand.Rand // of the step: draws of one step do not affect another
	c        *checkout
	alias    string   // a link to the project
	temp     string   // where copies go
	log      []string // every edit and disturbance
	machine  diffMachine
	lossy    bool // things get lost in the store in some steps
	lost     bool // that happened
	damaged  bool // files of the store were: a plan does not read blobs
	clean    map[[sha256.Size]byte]*diffOutcome
	recorded map[string]string            // results of earlier runs, by id
	prepared map[string][sha256.Size]byte // environments before they were damaged, by path
	harmed   int                          // number of damages
}

// diffOutcome holds the visible results of a run.
type diffOutcome struct {
	exit                             int
	message                          string // when the configuration is refused
	results, status                  string
	exports                          map[string]string
	nodes, answered, blocked, broken int
}

// exported reports whether an export wrote the file, or a directory around it. If an exported suite loses its last
// cell, the files of the earlier run stay.
func (o *diffOutcome) exported(path string) bool {
	top, _, _ := strings.Cut(path, "/")
	for other := range o.exports {
		if other == top || strings.HasPrefix(other, top+"/") {
			return true
		}
	}
	return false
}

func newDiffWorld(t *testing.T, seed uint64, machine diffMachine) *diffWorld {
	temp := t.TempDir()
	if dir := os.Getenv(diffKeepVariable); dir != "" {
		temp = filepath.Join(dir, fmt.Sprint(seed))
		if err := os.MkdirAll(temp, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	machine = machine.setUp(t, temp)
	w := &diffWorld{t: t, seed: seed, temp: temp, machine: machine, lossy: seed%2 == 0, alias: filepath.Join(temp, "alias"), clean: map[[sha256.Size]byte]*diffOutcome{}, recorded: map[string]string{}, prepared: map[string][sha256.Size]byte{}}
	w.rng = rand.New(rand.NewPCG(seed, 0))
	w.c = w.checkoutAt("project", "place")
	if err := os.Symlink("project", w.alias); err != nil {
		t.Fatal(err)
	}
	return w
}

// checkoutAt returns an empty checkout below temp, with its own place.
func (w *diffWorld) checkoutAt(dir, place string) *checkout {
	c := &checkout{t: w.t, dir: filepath.Join(w.temp, dir), place: filepath.Join(w.temp, place), env: w.machine.env()}
	for _, dir := range []string{c.dir, c.place + "/home", c.place + "/tmp"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	return c
}

func (w *diffWorld) note(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%3d  ", w.step)+fmt.Sprintf(format, args...))
}

// advance is one step: something happens, and the next run has to show the same as a clean one.
func (w *diffWorld) advance() {
	w.t.Helper()
	w.rng = rand.New(rand.NewPCG(w.seed, uint64(w.step)))
	if w.rng.IntN(2) == 0 {
		w.keepBranch()
	}
	for range 1 + w.rng.IntN(2) {
		if w.rng.IntN(5) < 3 {
			w.note("%s", editProject(w.rng, diffTree(w.c.dir)))
			continue
		}
		disturbances := slices.Concat(diffDisturbances, w.machine.disturbances())
		disturbance := disturbances[w.rng.IntN(len(disturbances))]
		w.note("%s", disturbance(w))
	}
	if w.rng.IntN(3) == 0 { // times then identify the written files
		w.wait()
	}
	w.check()
	if !w.lost {
		w.affects()
	}
}

// check plans and runs, and fails unless both show the same as a clean run.
func (w *diffWorld) check() {
	w.t.Helper()
	want := w.cleanOutcome()
	w.presents(want)
	unlocked := !w.locked()
	planned := w.plan()
	got := w.outcome(w.c)
	maps.DeleteFunc(got.exports, func(path, _ string) bool { return !want.exported(path) })
	if diff := cmpdiff.Diff(want, got, cmpdiff.AllowUnexported(diffOutcome{})); diff != "" {
		w.t.Fatalf("step %d: the run shows something else than a clean one (-clean +run):\n%s", w.step, diff)
	}
	if got.message != "" {
		return
	}
	record := w.c.lastRun()
	w.restored(record)
	if !unlocked || !w.locked() { // a run that locks can find answers for its lock file
		w.compare(planned, record)
	}
	w.askAgain(record, got.results)
	if w.rng.IntN(4) == 0 && got.exit < 2 {
		w.command("run")
		if again := w.c.lastRun(); len(again.executed) > 0 || again.end.Nodes != record.end.Nodes {
			w.t.Fatalf("step %d: another run executed %q, of %d nodes; there were %d", w.step, again.executed, again.end.Nodes, record.end.Nodes)
		}
	}
}

// locked reports whether the project has a lock file.
func (w *diffWorld) locked() bool {
	_, err := os.Stat(filepath.Join(w.c.dir, "fevalgraph.lock"))
	return err == nil
}

// wait waits until the times of earlier writes differ from later ones.
func (w *diffWorld) wait() {
	w.note("wait")
	time.Sleep(diffTick)
}

// command runs the program in the project, sometimes entered through a link, and returns its exit code, which must be a
// documented one for results.
func (w *diffWorld) command(args ...string) (stdout []byte, exit int) {
	w.t.Helper()
	cmd := w.c.command(args...)
	if w.rng.IntN(8) == 0 {
		cmd.Dir = w.alias
	}
	return w.finished(cmd, cmd.Run())
}

func (w *diffWorld) finished(cmd *exec.Cmd, err error) (stdout []byte, exit int) {
	w.t.Helper()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		exit = ended.ExitCode()
	} else if err != nil {
		w.t.Fatal(err)
	}
	if exit < 0 || exit > 4 {
		w.t.Fatalf("step %d: %q ended with %d\n%s", w.step, cmd.Args, exit, output(cmd))
	}
	return cmd.Stdout.(*bytes.Buffer).Bytes(), exit
}

// diffPlan is the output of plan: the stale nodes, or their number.
type diffPlan struct {
	exit  int
	stale int
	nodes map[string]plannedNode // nil unless requested
}

type plannedNode struct{ Addr, State, Cause, Key string }

var staleCount = regexp.MustCompile(`(?m)^(\d+) stale of (\d+)\.`)

func (w *diffWorld) plan() diffPlan {
	w.t.Helper()
	if w.rng.IntN(2) == 0 {
		text, exit := w.command("plan")
		p := diffPlan{exit: exit}
		if count := staleCount.FindSubmatch(text); count != nil {
			p.stale, _ = strconv.Atoi(string(count[1]))
		} else if exit == 0 {
			w.t.Fatalf("step %d: plan printed\n%s", w.step, text)
		}
		return p
	}
	return w.planned()
}

// planned has the nodes of a plan.
func (w *diffWorld) planned() diffPlan {
	w.t.Helper()
	text, exit := w.command("plan", "--json")
	var answer struct {
		Nodes []plannedNode
		Stale int
	}
	if err := json.Unmarshal(text, &answer); err != nil && exit == 0 {
		w.t.Fatalf("step %d: plan --json: %v\n%s", w.step, err, text)
	}
	p := diffPlan{exit: exit, stale: answer.Stale, nodes: map[string]plannedNode{}}
	for _, n := range answer.Nodes {
		if cause := strings.TrimSpace(n.Cause); (n.State == "stale" || n.State == "new") && (cause == "" || cause != n.Cause || strings.HasPrefix(cause, "changed")) {
			w.t.Fatalf("step %d: %s is %s because of %q", w.step, n.Addr, n.State, n.Cause)
		}
		p.nodes[n.Addr] = n
	}
	return p
}

// compare fails unless exactly the planned nodes ran: no fresh ones, and all that were stale for a reason other than
// another node. Of nodes with one key, one runs.
func (w *diffWorld) compare(p diffPlan, r *runRecord) {
	w.t.Helper()
	w.reopened()
	if w.damaged { // outputs that a plan relied on can turn out to be
		return
	}
	if len(r.executed) > p.stale && p.exit == 0 || p.stale > 0 && len(r.executed) == 0 && r.end.Exit < 2 {
		w.t.Fatalf("step %d: %d were stale, ran %q", w.step, p.stale, r.executed)
	}
	if p.nodes == nil {
		return
	}
	ran := map[string]bool{} // keys
	for _, addr := range r.executed {
		if n, ok := p.nodes[addr]; !ok || n.State == "fresh" {
			w.t.Fatalf("step %d: %s ran, which was planned as %q", w.step, addr, n.State)
		}
		ran[p.nodes[addr].Key] = true
	}
	if w.lost { // an output that is gone is not made again unless what reads it runs
		return
	}
	for _, addr := range slices.Sorted(maps.Keys(p.nodes)) {
		n := p.nodes[addr]
		if (n.State == "stale" || n.State == "new") && n.Key != "" && !ran[n.Key] && !strings.HasPrefix(n.Cause, "follows") {
			w.t.Fatalf("step %d: %s is %s (%s), and did not run", w.step, addr, n.State, n.Cause)
		}
	}
}

// reopened reports whether the last run found outputs of nodes missing from the store, so that nodes had to run again.
// Without losses, none may.
func (w *diffWorld) reopened() bool {
	w.t.Helper()
	var nodes []string
	run, err := event.FindRun(w.c.records(), "latest")
	if err == nil {
		err = run.Each(func(e event.Event) bool {
			if again, ok := e.(event.NodeReopened); ok {
				nodes = append(nodes, again.Addr+": "+again.Cause)
			}
			return true
		})
	}
	if err != nil || len(nodes) > 0 && !w.lost {
		w.t.Fatalf("step %d: decided again: %q, %v", w.step, nodes, err)
	}
	return len(nodes) > 0
}

// askAgain records the results of a run, and compares those of an earlier one.
func (w *diffWorld) askAgain(r *runRecord, results string) {
	w.t.Helper()
	w.recorded[r.start.Run] = results
	ids := slices.Sorted(maps.Keys(w.recorded))
	id := ids[w.rng.IntN(len(ids))]
	if w.rng.IntN(4) > 0 {
		return
	}
	if _, err := os.Stat(filepath.Join(w.c.dir, ".fevalgraph", "runs", id)); errors.Is(err, fs.ErrNotExist) {
		delete(w.recorded, id) // it went with the state
		return
	}
	text, exit := w.command("results", "--run", id, "--format", "json")
	if got := diffTimeless(w.t, text); exit != 0 || got != w.recorded[id] {
		w.t.Fatalf("step %d: the results of run %s end with %d and are other ones now (-then +now):\n%s", w.step, id, exit, cmpdiff.Diff(w.recorded[id], got))
	}
}

// cleanOutcome returns the outcome of a copy of the project in an empty store. Equal projects share it.
func (w *diffWorld) cleanOutcome() *diffOutcome {
	w.t.Helper()
	sum := diffTree(w.c.dir).digest(w.t)
	if known := w.clean[sum]; known != nil {
		return known
	}
	name := fmt.Sprintf("clean-%d", w.step)
	c := w.checkoutAt(name+"/project", name+"/place")
	diffTree(w.c.dir).copyTo(w.t, c.dir)
	c.env = append(c.env, "XDG_CACHE_HOME="+filepath.Join(w.temp, "clean-cache")) // environments are prepared once
	w.clean[sum] = w.outcomeIn(c, c.dir)
	if err := os.RemoveAll(filepath.Join(w.temp, name)); err != nil {
		w.t.Fatal(err)
	}
	return w.clean[sum]
}

// outcome runs everything and collects the output.
func (w *diffWorld) outcome(c *checkout) *diffOutcome {
	dir := c.dir
	if w.rng.IntN(8) == 0 {
		dir = w.alias
	}
	return w.outcomeIn(c, dir)
}

func (w *diffWorld) outcomeIn(c *checkout, dir string) *diffOutcome {
	w.t.Helper()
	before := diffLatest(c)
	cmd := c.command("run")
	cmd.Dir = dir
	_, exit := w.finished(cmd, cmd.Run())
	o := &diffOutcome{exit: exit, exports: map[string]string{}}
	if diffLatest(c) == before { // the configuration is refused
		o.message = strings.ReplaceAll(fmt.Sprint(cmd.Stderr), dir, "DIR")
		if exit != 2 && exit != 4 {
			w.t.Fatalf("step %d: a run without a record ended with %d\n%s", w.step, exit, o.message)
		}
		return o
	}
	end := c.lastRun().end
	o.nodes, o.answered, o.blocked, o.broken = end.Nodes, end.Executed+end.Cached, end.Blocked, end.Broken
	show := func(args ...string) []byte {
		cmd := c.command(args...)
		cmd.Dir = dir
		text, exit := w.finished(cmd, cmd.Run())
		if exit != 0 {
			w.t.Fatalf("step %d: %q ended with %d\n%s", w.step, args, exit, output(cmd))
		}
		return text
	}
	o.results = diffTimeless(w.t, show("results", "--format", "json"))
	o.status = diffVaries.ReplaceAllString(string(show("status", "--json")), "*")
	for _, path := range diffTree(filepath.Join(c.dir, "out")).files() {
		content, err := os.ReadFile(filepath.Join(c.dir, "out", path))
		if err != nil {
			w.t.Fatal(err)
		}
		o.exports[path] = diffVaries.ReplaceAllString(string(content), "*")
	}
	return o
}

// diffLatest returns the id of the last run that ended normally.
func diffLatest(c *checkout) string {
	run, err := event.FindRun(c.records(), "latest")
	if err != nil {
		return ""
	}
	return run.ID
}

// diffVaries matches ids of runs and durations in exports, and digests of files that contain some.
var diffVaries = regexp.MustCompile(`\d{8}-\d{6}-[0-9a-f]{6}|"duration(_ms)?":\s*[0-9.e+-]+|time="[0-9.]+"|,[0-9]+\.[0-9]{3},,|: "[0-9a-f]{64}"`)

// diffTimeless returns a document of results without ids of runs and durations.
func diffTimeless(t *testing.T, text []byte) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	encoded, err := json.MarshalIndent(timeless(value), "", " ")
	return cmp.Or(string(encoded), fmt.Sprint(err))
}
