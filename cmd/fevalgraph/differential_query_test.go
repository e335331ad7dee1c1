//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	cmpdiff "github.com/google/go-cmp/cmp"
)

// affects fails unless rdeps(file:X) of a source file, queried while everything is fresh, lists exactly the nodes that
// a plan calls stale after an edit of it. The edit stays.
func (w *diffWorld) affects() {
	w.t.Helper()
	if before := w.planned(); before.exit != 0 || before.stale > 0 || slices.ContainsFunc(slices.Collect(maps.Values(before.nodes)), func(n plannedNode) bool { return n.State != "fresh" }) {
		return
	}
	name := diffTree(w.c.dir).source(w.rng)
	text, exit := w.command("query", "--json", "rdeps(file:"+name+")")
	var found struct{ Nodes []plannedNode }
	if err := json.Unmarshal(text, &found); err != nil && exit == 0 {
		w.t.Fatalf("step %d: query --json: %v\n%s", w.step, err, text)
	}
	path := diffTree(w.c.dir).path(name)
	content, err := os.ReadFile(path)
	must(err)
	must(os.WriteFile(path, append(content, fmt.Sprintf("# queried in step %d\n", w.step)...), 0o644)) // as no other file is
	w.note("query rdeps(file:%s), and append to it", name)
	var want, got []string
	for addr, n := range w.planned().nodes {
		if n.State != "fresh" {
			want = append(want, addr)
		}
	}
	for _, n := range found.Nodes {
		got = append(got, n.Addr)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmpdiff.Diff(want, got); diff != "" {
		w.t.Fatalf("step %d: rdeps(file:%s) exited with %d, and its nodes differ from the stale ones after an edit (-stale +rdeps):\n%s", w.step, name, exit, diff)
	}
}
