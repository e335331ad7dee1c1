package view

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An amended status is what all of it would be drawn as, or there is none.
func TestAmendedStatus(t *testing.T) {
	const seed = 5
	random := rand.New(rand.NewPCG(seed, 0))
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	row := func(i int) StatusRow {
		return StatusRow{Problem: fmt.Sprint("p", i/3), Checkpoint: fmt.Sprint("c", i%3), Solution: "s", Backend: "local.host",
			Verdict: pick("passed", "failed", "broken", ""), Core: pick("", "1/2", "10/12"), Total: pick("1/1", "12/12"), State: "fresh",
			Note: pick("", "", "", "vacuous", "passes with no core tests")}
	}
	amended := 0
	for round := range 100 {
		color := round%2 == 0
		var rows []StatusRow
		for i := range 1 + random.IntN(30) {
			rows = append(rows, row(i))
		}
		drawn := DrawStatus(rows, color)
		for range 5 {
			before := slices.Clone(rows)
			var changes []StatusChange
			for _, i := range random.Perm(len(rows))[:random.IntN(min(3, len(rows)+1))] {
				rows[i] = row(i)
				changes = append(changes, StatusChange{Row: i, Was: before[i], New: rows[i]})
			}
			var want bytes.Buffer
			StatusTable(&want, rows, color)
			whole := DrawStatus(rows, color)
			if whole.Text != want.String() {
				t.Fatalf("drawn\n%s\nwritten\n%s", whole.Text, &want)
			}
			if next, ok := drawn.Amended(changes); ok {
				amended++
				if diff := cmp.Diff(whole, next); diff != "" {
					t.Fatal(diff)
				}
			}
			drawn = whole
		}
	}
	if amended < 50 {
		t.Errorf("only %d were amended", amended)
	}
}
