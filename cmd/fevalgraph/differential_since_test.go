//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	cmpdiff "github.com/google/go-cmp/cmp"
)

// TestDifferentialSince: over histories of random edits, plan --since without a store finds the same nodes stale as a
// plan of a commit after a run of its parent in an empty store.
func TestDifferentialSince(t *testing.T) {
	eachDiffWorld(t, func(int) diffMachine { return diffMachine{} }, func(w *diffWorld, steps int) {
		w.git("init", "-q")
		must(os.WriteFile(filepath.Join(w.c.dir, ".git", "info", "exclude"), []byte(".fevalgraph\nout\nfevalgraph.lock\n"), 0o644))
		w.commit()
		compared := 0
		for w.step = 1; w.step <= steps; w.step++ {
			w.rng = rand.New(rand.NewPCG(w.seed, uint64(w.step)))
			for range 1 + w.rng.IntN(3) {
				w.note("%s", editProject(w.rng, diffTree(w.c.dir)))
			}
			w.commit()
			if w.since() {
				compared++
			}
		}
		if compared == 0 {
			w.t.Errorf("no step had two commits to compare:\n%q", w.log)
		}
	})
}

func (w *diffWorld) git(args ...string) {
	w.t.Helper()
	c := exec.Command("git", append([]string{"-C", w.c.dir, "-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "core.excludesFile=", "-c", "advice.detachedHead=false"}, args...)...)
	if out, err := c.CombinedOutput(); err != nil {
		w.t.Fatalf("step %d: git %q: %v\n%s", w.step, args, err, out)
	}
}

func (w *diffWorld) commit() {
	w.t.Helper()
	os.RemoveAll(filepath.Join(w.c.dir, ".git", "index")) // git believes times, which edits put back
	w.git("add", "-A")
	w.git("commit", "-q", "--allow-empty", "--no-gpg-sign", "-m", "step")
}

// since compares the last commit with the one before. It reports whether both have a valid configuration.
func (w *diffWorld) since() bool {
	w.t.Helper()
	w.c.place = filepath.Join(w.temp, fmt.Sprintf("place-%d", w.step))
	for _, dir := range []string{"home", "tmp"} {
		must(os.MkdirAll(filepath.Join(w.c.place, dir), 0o755))
	}
	must(os.RemoveAll(filepath.Join(w.c.dir, ".fevalgraph")))
	w.git("checkout", "-q", "HEAD~1")
	_, ran := w.command("run")
	w.git("checkout", "-q", "-")
	after := w.planned()
	text, exit := w.command("plan", "--since", "HEAD~1", "--trust", "--json")
	if ran > 1 || after.exit != 0 {
		return false
	}
	var answer struct{ Nodes []plannedNode }
	if err := json.Unmarshal(text, &answer); err != nil || exit != after.exit {
		w.t.Fatalf("step %d: plan --since ended with %d, and plan with %d: %v\n%s", w.step, exit, after.exit, err, text)
	}
	want, got := map[string]string{}, map[string]string{}
	for addr, n := range after.nodes {
		want[addr] = n.State
	}
	for _, n := range answer.Nodes {
		got[n.Addr] = n.State
	}
	if diff := cmpdiff.Diff(want, got); diff != "" {
		w.t.Fatalf("step %d, after %q: plan --since and a plan after a run differ (-plan +since):\n%s", w.step, w.log, diff)
	}
	w.note("compared %d nodes, %d fresh", len(got), len(slices.DeleteFunc(slices.Collect(maps.Values(want)), func(s string) bool { return s != "fresh" })))
	return true
}
