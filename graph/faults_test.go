package graph

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/faulty"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// The first variable sets the number of seeds of TestResumedAfterFaults, the second its first seed.
const (
	faultSeedsVariable = "FEVALGRAPH_TEST_FAULT_SEEDS"
	faultFirstVariable = "FEVALGRAPH_TEST_FAULT_FIRST"
)

// faultSeeds are few enough for every run of the tests.
var faultSeeds = uint64(longtest.Size(60, 200))

func numberFrom(t *testing.T, variable string, otherwise uint64) uint64 {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// TestResumedAfterFaults: a store is on a disk that fails. Runs break, are killed in the middle of an operation, and
// lose power; gc runs between them and is killed too. Nodes have the last answers of such a run, or of an earlier
// one. The run after them, on a disk that works, has the answers of a run that was never disturbed, every result can
// be read, and the run after that has nothing to do.
func TestResumedAfterFaults(t *testing.T) {
	first := numberFrom(t, faultFirstVariable, 0)
	count := numberFrom(t, faultSeedsVariable, faultSeeds)
	seen := map[string]int{}
	// A test of faults that do not happen would be none. Which ones a seed has depends on the machine, too.
	const patience = 10
	missing := func() (missing []string) {
		for _, what := range []string{"kill in write", "kill in rename", "write: no space left on device", "write: input/output error",
			"read: input/output error", "open: input/output error", "rename: input/output error", "rename: no space left on device", "power lost", "gc"} {
			if seen[what] == 0 && count >= faultSeeds {
				missing = append(missing, what)
			}
		}
		return missing
	}
	for seed := first; seed < first+count || len(missing()) > 0 && seed < first+patience*count; seed++ {
		l := newLife(t, seed)
		if err := l.run(); err != nil {
			t.Fatalf("seed %d: %v\nonce more: %s=%d %s=1 go test -count=1 -run '^TestResumedAfterFaults$' ./graph", seed, err, faultFirstVariable, seed, faultSeedsVariable)
		}
		for what, n := range l.faults {
			seen[what] += n
		}
		if (seed+1)%1000 == 0 {
			t.Logf("%d seeds", seed+1-first)
		}
	}
	if never := missing(); len(never) > 0 {
		t.Errorf("in %d seeds there was never: %s; there was %v", patience*count, strings.Join(never, ", "), seen)
	}
}

// life is a project with a random graph and its history.
type life struct {
	t      *testing.T
	rng    *rand.Rand
	world  *world
	dir    string
	faults map[string]int
	last   lasts
	runs   int
}

func newLife(t *testing.T, seed uint64) *life {
	w := newWorld(seed, true)
	w.store = nil
	if len(w.nodes) > 16 { // the ends matter, and there are many
		w.nodes, w.values = w.nodes[:16], w.values[:16]
	}
	return &life{t: t, rng: rand.New(rand.NewPCG(seed, 3)), world: w, faults: map[string]int{}, last: lasts{}}
}

func (l *life) run() error {
	var err error
	if l.dir, err = os.MkdirTemp(memoryDir(), "fevalgraph-life"); err != nil {
		return err
	}
	defer os.RemoveAll(l.dir)
	for range 3 {
		l.world.changeLeaves()
		if err := l.disturbed(); err != nil {
			return err
		}
	}
	return l.resumed()
}

// memoryDir returns a directory in memory, if the machine has one: all errors here come from the test.
func memoryDir() string {
	const dir = "/dev/shm"
	if fi, err := os.Stat(dir); err == nil && fi.IsDir() && fi.Mode().Perm()&0o002 != 0 {
		return dir
	}
	return ""
}

// disk returns a new disk for the next process.
func (l *life) disk() (*faulty.Disk, error) {
	shadow, err := os.MkdirTemp(l.dir, "lost")
	return faulty.New(l.rng.Uint64(), shadow), err
}

// disturbed is a run, and perhaps gc, that the disk and the power put an end to.
// Whether they return errors does not matter; that they return does.
func (l *life) disturbed() error {
	disk, err := l.disk()
	if err != nil {
		return err
	}
	disk.Set(l.weather())
	l.world.bad = true
	_, _ = l.execute(disk, l.rng.IntN(3) == 0)
	l.world.bad = false
	if l.rng.IntN(3) == 0 && !disk.Dead() {
		l.faults["gc"]++
		if store, err := cache.OpenDisk(filepath.Join(l.dir, "store"), cache.Options{Files: disk}); err == nil {
			_, _ = store.GC(l.t.Context(), cache.GCOptions{MaxBytes: l.rng.Int64N(4000), Now: time.Now().Add(2 * time.Hour)})
		}
	}
	for what, n := range disk.Faults() {
		l.faults[what] += n
	}
	if l.rng.IntN(2) == 0 {
		l.faults["power lost"]++
		return disk.LosePower()
	}
	return nil
}

func (l *life) weather() faulty.Weather {
	w := faulty.Weather{Kill: faulty.Never}
	if l.rng.IntN(3) > 0 {
		w.Fault = []int{5, 30, 200}[l.rng.IntN(3)]
	}
	if l.rng.IntN(3) > 0 {
		w.Kill = l.rng.IntN(40 * len(l.world.nodes))
	}
	return w
}

// outcome holds the results of a run.
type outcome struct {
	answers []string
	report  *Report
	graph   *Graph
	store   *cache.Disk
}

// execute simulates a process that runs everything, like the program: if results cannot be read, their producers run
// again.
func (l *life) execute(disk *faulty.Disk, ends bool) (*outcome, error) {
	store, err := cache.OpenDisk(filepath.Join(l.dir, "store"), cache.Options{Files: disk})
	if err != nil {
		return nil, err
	}
	l.runs++
	o := Options{Store: store, Locker: store, Last: l.last.of, Sink: &recorder{}, Run: fmt.Sprint("run", l.runs), Pools: map[string]int{CPUPool: 1, "narrow": 1}}
	left := l.rng.IntN(2 * len(l.world.nodes))
	if ends {
		o.Stop = stopAfter(left)
	}
	for tries := 3; ; tries-- {
		g := l.world.graph()
		r, err := g.Execute(l.t.Context(), everything(g), o)
		if err != nil {
			return nil, err
		}
		for _, id := range r.Nodes {
			if st := r.Status(id); strings.HasPrefix(st.Message, "bug") {
				return nil, fmt.Errorf("%s: %s", g.Node(id).Addr, st.Message)
			}
		}
		if !disk.Dead() && l.rng.IntN(3) > 0 {
			l.last.learn(r)
		}
		err = l.readResults(g, r, store)
		if err == nil || tries == 0 {
			return &outcome{answers(g, r), r, g, store}, err
		}
	}
}

// readResults reads the outputs of kept nodes, all of them also after an error:
// reading drops damaged ones.
func (l *life) readResults(g *Graph, r *Report, store cache.Store) error {
	var errs []error
	for _, id := range r.Nodes {
		if !g.Node(id).Kept {
			continue
		}
		for _, o := range r.Status(id).Outputs {
			if _, err := cache.ReadBlob(context.Background(), store, o.Digest, -1); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", g.Node(id).Addr, err))
			}
		}
	}
	return errors.Join(errs...)
}

// resumed compares the next run with one in a project that is new.
func (l *life) resumed() error {
	disk, err := l.disk()
	if err != nil {
		return err
	}
	got, err := l.execute(disk, false)
	if err != nil {
		return fmt.Errorf("the resumed run: %w", err)
	}
	m := cache.NewMemory()
	g := l.world.graph()
	r, err := g.Execute(l.t.Context(), everything(g), Options{Store: m, Locker: m, Run: "clean", Pools: map[string]int{CPUPool: 2, "narrow": 2}})
	if err != nil {
		return err
	}
	if want := answers(g, r); !slices.Equal(got.answers, want) {
		return fmt.Errorf("resumed\n%s\nclean\n%s", strings.Join(got.answers, "\n"), strings.Join(want, "\n"))
	}
	clear(l.world.ran)
	again, err := l.execute(disk, false)
	if err != nil {
		return fmt.Errorf("the run after it: %w", err)
	}
	for _, id := range again.report.Nodes {
		st, addr := again.report.Status(id), again.graph.Node(id).Addr
		if l.world.ran[addr] > 0 {
			return fmt.Errorf("%s ran again: %s", addr, st.Cause)
		}
		if st.State == event.Broken || st.State == event.Interrupted {
			return fmt.Errorf("%s is %s: %s", addr, st.State, st.Message)
		}
	}
	report, err := got.store.Verify(l.t.Context(), true, nil)
	if err != nil {
		return err
	}
	if report, err = got.store.Verify(l.t.Context(), false, nil); err != nil || len(report.Corrupt)+len(report.Dangling) > 0 {
		return fmt.Errorf("after a repair: %+v, %w", report, err)
	}
	return nil
}
