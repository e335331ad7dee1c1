package shards

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Two hundred cells of ten problems; a few take a hundred times as long as most.
func skewed(seed uint64) []Cell {
	random := rand.New(rand.NewPCG(seed, 1))
	cells := make([]Cell, 200)
	for i := range cells {
		cells[i] = Cell{Name: fmt.Sprint("cell", i), Problem: fmt.Sprint("problem", i%10), Seconds: 1 + random.Float64()*5}
		if i%20 == 0 {
			cells[i].Seconds *= 50 * random.Float64()
		}
	}
	return cells
}

func TestEven(t *testing.T) {
	for seed := range uint64(50) {
		cells := skewed(seed)
		total, longest := 0.0, 0.0
		for _, c := range cells {
			total, longest = total+c.Seconds, max(longest, c.Seconds)
		}
		for _, count := range []int{2, 3, 4, 8} {
			found := Divide(cells, nil, count, 0)
			if len(found) != count {
				t.Fatalf("seed %d: %d shards, want %d", seed, len(found), count)
			}
			ideal := max(total/float64(count), longest)
			seen := map[string]int{}
			for i, s := range found {
				if s.Seconds > ideal*1.15 {
					t.Errorf("seed %d: shard %d of %d takes %.1f s, and the ideal is %.1f s", seed, i+1, count, s.Seconds, ideal)
				}
				for _, name := range s.Cells {
					seen[name]++
				}
			}
			for _, c := range cells {
				if seen[c.Name] != 1 {
					t.Errorf("seed %d: %s is in %d shards", seed, c.Name, seen[c.Name])
				}
			}
		}
	}
}

// The number of shards depends on the limit, and is 0 without work.
func TestCount(t *testing.T) {
	var cells []Cell
	for i := range 10 {
		cells = append(cells, Cell{Name: fmt.Sprint(i), Seconds: 10})
	}
	for limit, want := range map[float64]int{1000: 1, 100: 1, 99: 2, 25: 4, 10: 10, 1: 10} {
		if got := len(Divide(cells, nil, 0, limit)); got != want {
			t.Errorf("with a limit of %v s there are %d shards, want %d", limit, got, want)
		}
	}
	if got := Divide(nil, nil, 0, 10); len(got) != 0 {
		t.Errorf("without cells there are shards: %v", got)
	}
	if got := Divide(nil, nil, 4, 10); len(got) != 0 {
		t.Errorf("without cells there are shards: %v", got)
	}
}

// Cells of unknown duration count as the others, and without others as equal.
func TestUnknown(t *testing.T) {
	found := Divide([]Cell{{Name: "a", Seconds: 8}, {Name: "b"}, {Name: "c", Seconds: 4}, {Name: "d", Seconds: 9}}, nil, 1, 0)
	if found[0].Seconds != 8+8+4+9 {
		t.Errorf("expected %v s", found[0].Seconds)
	}
	found = Divide([]Cell{{Name: "a"}, {Name: "b"}}, nil, 2, 0)
	if found[0].Seconds != unknown || found[1].Seconds != unknown {
		t.Errorf("expected %v", found)
	}
}

// Work that cells share brings them together, as does their problem where it costs nothing.
func TestTogether(t *testing.T) {
	var cells []Cell
	for i := range 4 {
		cells = append(cells, Cell{Name: fmt.Sprint("a", i), Problem: "a", Seconds: 10, Common: []int{0}},
			Cell{Name: fmt.Sprint("b", i), Problem: "b", Seconds: 10, Common: []int{1}})
	}
	found := Divide(cells, []float64{100, 100}, 2, 0)
	for _, s := range found {
		if s.Seconds != 140 {
			t.Errorf("a shard does what it could leave to the other: %+v", found)
		}
	}
	cells = nil
	for i := range 100 {
		cells = append(cells, Cell{Name: fmt.Sprint(i), Problem: fmt.Sprint(i % 2), Seconds: 1})
	}
	mixed := 0
	for _, s := range Divide(cells, nil, 2, 0) {
		count := map[string]int{}
		for _, name := range s.Cells {
			var i int
			fmt.Sscan(name, &i)
			count[fmt.Sprint(i%2)]++
		}
		mixed += min(count["0"], count["1"])
	}
	if mixed > 10 {
		t.Errorf("%d of 100 cells are apart from their problem's others", mixed)
	}
}
