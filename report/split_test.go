package report

import (
	"bytes"
	"testing"
)

// Cells that are split and put together again are what they were, whatever is in their text.
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
		if len(parts) != n || !bytes.Equal(bytes.Join(parts, []byte{','}), whole) {
			t.Fatalf("%d cells are %d parts:\n%s", n, len(parts), whole)
		}
		for i, part := range parts {
			if one, err := DecodeCells(part); err != nil || len(one) != 1 || one[0].Problem != cells[i].Problem {
				t.Errorf("%s: %+v, %v", part, one, err)
			}
		}
	}
}
