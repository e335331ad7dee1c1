package report

import (
	"bytes"
	"testing"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// Splitting and joining cells does not change them, for any text.
func TestSplitCells(t *testing.T) {
	message := `},{ " \" \\`
	cells := []Cell{
		{Problem: `a"},{"b`, Solution: "s", Backend: "local.host", Checkpoints: []Checkpoint{{Name: "one"}}},
		{Problem: `back\`, Solution: "s", Backend: "local.host", Message: &message, Checkpoints: []Checkpoint{}},
		{Problem: "c", Solution: "s", Backend: "local.host", Checkpoints: []Checkpoint{{Name: "}"}, {Name: "{"}}},
	}
	for n := range len(cells) + 1 {
		whole, err := EncodeCells(cells[:n])
		if err != nil {
			t.Fatal(err)
		}
		parts := SplitCells(whole)
		if len(parts) != n || n > 0 && string(bytes.Join(parts, []byte("\n,")))+"\n" != string(whole) {
			t.Fatalf("%d cells are %d parts:\n%s", n, len(parts), whole)
		}
		for i, part := range parts {
			if one, err := DecodeCells(part); err != nil || len(one) != 1 || one[0].Problem != cells[i].Problem {
				t.Errorf("%s: %+v, %v", part, one, err)
			}
		}
	}
}

// Comparing cells ignores their measurements, but not texts that look like such fields.
func TestWithoutTaken(t *testing.T) {
	cell := func(took float64, memory int64, said string) []byte {
		test := Test{Test: verdict.Test{ID: "t"}, DurationMS: took, Message: &said, CPUMS: &took, MemoryBytes: &memory}
		b, err := EncodeCells([]Cell{{Problem: "p", Checkpoints: []Checkpoint{{DurationMS: took * 2, Tests: []Test{test}}}}})
		if err != nil {
			t.Fatal(err)
		}
		return WithoutMeasurements(b)
	}
	one := cell(1.5e-7, 10, `"duration_ms":1`)
	if same := cell(200, 99, `"duration_ms":1`); !bytes.Equal(one, same) {
		t.Errorf("%s\n%s", one, same)
	}
	if other := cell(1.5e-7, 10, `"duration_ms":2`); bytes.Equal(one, other) {
		t.Errorf("another message is lost: %s", one)
	}
}
