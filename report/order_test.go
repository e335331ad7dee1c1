package report

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSortIsCanonical(t *testing.T) {
	var want Results
	for _, problem := range []string{"a", "b"} {
		for _, solution := range []string{"s", "t"} {
			for _, backend := range []string{"docker.x", "local.host"} {
				for repeat := 1; repeat <= 11; repeat += 5 {
					cell := Cell{Problem: problem, Solution: solution, Backend: backend, Repeat: repeat}
					for _, name := range []string{"checkpoint_2", "checkpoint_10", "checkpoint_1"} {
						cell.Checkpoints = append(cell.Checkpoints, Checkpoint{Name: name})
					}
					want.Cells = append(want.Cells, cell)
				}
			}
		}
	}
	// The problem's own order, which is not the order of names.
	order := func(string) []string { return []string{"checkpoint_2", "checkpoint_10", "checkpoint_1"} }
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		got := Results{Cells: append([]Cell(nil), want.Cells...)}
		random.Shuffle(len(got.Cells), func(i, j int) { got.Cells[i], got.Cells[j] = got.Cells[j], got.Cells[i] })
		for i := range got.Cells {
			c := append([]Checkpoint(nil), got.Cells[i].Checkpoints...)
			random.Shuffle(len(c), func(i, j int) { c[i], c[j] = c[j], c[i] })
			got.Cells[i].Checkpoints = c
		}
		got.Sort(order)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

func TestSortPutsUnlistedCheckpointsLast(t *testing.T) {
	r := Results{Cells: []Cell{{Checkpoints: []Checkpoint{{Name: "z"}, {Name: "b"}, {Name: "x"}, {Name: "a"}}}}}
	r.Sort(func(string) []string { return []string{"a", "b"} })
	var names string
	for _, c := range r.Cells[0].Checkpoints {
		names += c.Name
	}
	if names != "abzx" {
		t.Errorf("order %s", names)
	}
	r.Sort(nil)
	if r.Cells[0].Checkpoints[3].Name != "x" {
		t.Error("a nil order moved checkpoints")
	}
}
