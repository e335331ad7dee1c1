package text

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An amended drawing is the drawing of what the grid is now, or there is none.
func TestAmendedDrawing(t *testing.T) {
	const seed = 7
	random := rand.New(rand.NewPCG(seed, 0))
	words := []string{"", "a", "passed", "\x1b[32mpassed\x1b[0m", "12/14", "日本", "é", "a longer note about something", "-", "----"}
	row := func(columns int) []string {
		cells := make([]string, columns)
		for i := range cells {
			cells[i] = words[random.IntN(len(words))]
		}
		return cells
	}
	amended := 0
	for round := range 300 {
		columns := 1 + random.IntN(4)
		g := Grid{Header: []string{"name", "n", "passed", "x"}[:columns], Right: []int{1}, Footer: words[random.IntN(len(words))]}
		var places []int // of rows that are no lines
		for range 1 + random.IntN(20) {
			if n := len(g.Rows); random.IntN(5) == 0 && n > 0 && g.Rows[n-1] != nil {
				g.Rows = append(g.Rows, nil)
			}
			places = append(places, len(g.Rows))
			g.Rows = append(g.Rows, row(columns))
		}
		d := g.Draw()
		if d.Text != g.Text() {
			t.Fatalf("round %d: drawn\n%s\nas text\n%s", round, d.Text, g.Text())
		}
		for range 4 {
			var changes []RowChange
			for _, n := range random.Perm(len(places))[:random.IntN(min(3, len(places)+1))] {
				was := g.Rows[places[n]]
				g.Rows[places[n]] = row(columns)
				changes = append(changes, RowChange{Row: n, Was: was, New: g.Rows[places[n]]})
			}
			was := g.Footer
			g.Footer = words[random.IntN(len(words))]
			want := g.Draw()
			next, ok := d.Amended(Grid{Header: g.Header, Right: g.Right, Footer: g.Footer}, was, changes)
			if !ok {
				d = want
				continue
			}
			amended++
			if diff := cmp.Diff(want, next); diff != "" {
				t.Fatalf("round %d: %s", round, diff)
			}
			d = next
		}
	}
	if amended < 100 {
		t.Errorf("only %d drawings were amended", amended)
	}
}

// What does not fit is drawn anew.
func TestNotAmended(t *testing.T) {
	g := Grid{Header: []string{"name", "note"}, Rows: [][]string{{"a", "short"}, {"b", "a long note"}}, Footer: "two"}
	d := g.Draw()
	for name, try := range map[string]struct {
		drawing Drawing
		was     string
		change  RowChange
	}{
		"wider":             {d, "two", RowChange{Row: 0, Was: g.Rows[0], New: []string{"a", "a longer note"}}},
		"the widest shrank": {d, "two", RowChange{Row: 1, Was: g.Rows[1], New: []string{"b", "short"}}},
		"no such row":       {d, "two", RowChange{Row: 2, Was: g.Rows[0], New: g.Rows[0]}},
		"never so":          {d, "two", RowChange{Row: 0, Was: []string{"z", "short"}, New: g.Rows[0]}},
		"another footer":    {d, "three", RowChange{Row: 0, Was: g.Rows[0], New: g.Rows[0]}},
		"fewer columns":     {d, "two", RowChange{Row: 0, Was: g.Rows[0], New: []string{"a"}}},
		"no lines":          {Grid{Header: g.Header, Rows: [][]string{{"a", "two\nlines"}}, Footer: "two"}.Draw(), "two", RowChange{Row: 0, Was: g.Rows[0], New: g.Rows[0]}},
	} {
		if next, ok := try.drawing.Amended(Grid{Header: g.Header, Footer: "x"}, try.was, []RowChange{try.change}); ok {
			t.Errorf("%s: %s", name, strings.TrimSpace(next.Text))
		}
	}
}
