package report

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// varied makes a cell come to something else now and then.
func varied(random *rand.Rand, cell Cell) Cell {
	score, message := float64(random.IntN(3)*50), fmt.Sprint("said ", random.IntN(1000))
	cell.Checkpoints = append([]Checkpoint(nil), cell.Checkpoints...)
	for i := range cell.Checkpoints {
		c := cell.Checkpoints[i]
		c.Groups = verdict.GroupCounts{verdict.Core: {Passed: random.IntN(2), Total: 1 + random.IntN(2)*9}}
		c.Passed, c.Class, c.Message = random.IntN(2) == 0, verdict.Judged, nil
		c.DurationMS = float64(random.IntN(3) * 1000)
		if random.IntN(4) == 0 {
			classes := []verdict.Class{verdict.NotJudged, verdict.SessionTimeout, verdict.NotReached, verdict.InputError, verdict.Killed}
			c.Passed, c.Class, c.Message = false, classes[random.IntN(len(classes))], &message
			c.InfrastructureFailure = random.IntN(2) == 0
		}
		if random.IntN(50) == 0 {
			c.Score = &score
		}
		cell.Checkpoints[i] = c
	}
	cell.Status = verdict.CellStatus(classesOf(cell))
	return cell
}

func classesOf(cell Cell) (classes []verdict.Class) {
	for _, c := range cell.Checkpoints {
		classes = append(classes, c.Class)
	}
	return classes
}

func joined(t *testing.T, e *Encoded) []byte {
	t.Helper()
	parts, err := e.Parts()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Join(parts, nil)
}

// Results in which cells were replaced are written, drawn and summed up as if they
// had always been so.
func TestAmendedResults(t *testing.T) {
	const seed = 3
	random := rand.New(rand.NewPCG(seed, 0))
	amended := 0
	for round := range 40 {
		r := many(10 + random.IntN(60))
		for i := range r.Cells {
			r.Cells[i] = varied(random, r.Cells[i])
		}
		encoded, err := Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		table := DrawTable(r, round%2 == 0)
		for step := range 6 {
			content := joined(t, encoded)
			if encoded, err = SplitEncoded(content, r.Run, encoded.Sizes()); err != nil {
				t.Fatal(err)
			}
			r.Run, encoded.Run = fmt.Sprint("run ", step), fmt.Sprint("run ", step)
			var changes []CellChange
			for _, i := range random.Perm(len(r.Cells))[:random.IntN(3)] {
				was, err := encoded.Cell(i)
				if err != nil {
					t.Fatal(err)
				}
				r.Cells[i] = varied(random, r.Cells[i])
				one, err := Encode(&Results{Cells: r.Cells[i : i+1]})
				if err != nil {
					t.Fatal(err)
				}
				encoded.Cells[i] = one.Cells[0]
				changes = append(changes, CellChange{Cell: i, Was: was, New: &r.Cells[i]})
			}
			var want bytes.Buffer
			if err := Write(&want, "json", r, Options{}); err != nil {
				t.Fatal(err)
			}
			if got := joined(t, encoded); !bytes.Equal(got, want.Bytes()) {
				t.Fatalf("encoded\n%s\nwant\n%s", got, &want)
			}
			next, ok := table.Amended(changes)
			whole := DrawTable(r, table.Color)
			if diff := cmp.Diff(Summarize(r, nil), next.Tally.Summary()); diff != "" {
				t.Fatal(diff)
			}
			if ok {
				amended++
				if diff := cmp.Diff(whole, next); diff != "" {
					t.Fatal(diff)
				}
			}
			want.Reset()
			if err := Write(&want, "table", r, Options{Color: table.Color}); err != nil || want.String() != whole.Text {
				t.Fatalf("drawn\n%s\nwant\n%s (%v)", whole.Text, &want, err)
			}
			table = whole
		}
	}
	if amended < 20 {
		t.Errorf("only %d tables were amended", amended)
	}
}

// What was not encoded with the given sizes is an error.
func TestSplitEncodedRefuses(t *testing.T) {
	encoded, err := Encode(mixed())
	if err != nil {
		t.Fatal(err)
	}
	content := joined(t, encoded)
	sizes := encoded.Sizes()
	split := func(content []byte, run string, sizes []int32) {
		t.Helper()
		if _, err := SplitEncoded(content, run, sizes); err == nil {
			t.Errorf("%d cells of run %s are found in %.80s", len(sizes), run, content)
		}
	}
	split(content, "another", sizes)
	split(content, encoded.Run, sizes[1:])
	split(content, encoded.Run, append([]int32{sizes[0] - 1}, sizes[1:]...))
	split(content, encoded.Run, append([]int32{-1}, sizes[1:]...))
	split(content, encoded.Run, append(sizes[:len(sizes):len(sizes)], 2))
	for n := range content {
		split(content[:n], encoded.Run, sizes)
	}
}
