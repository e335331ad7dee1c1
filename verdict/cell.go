package verdict

// Cell summarizes one solution on one backend. Its JSON is the stored form.
type Cell struct {
	Status      Status              `json:"status"`
	Passed      bool                `json:"passed"` // every checkpoint was judged and passed
	Checkpoints []CheckpointSummary `json:"checkpoints"`
}

// CheckpointSummary is a checkpoint without its tests. Its JSON is the stored form; Groups is null in it
// without a verdict.
type CheckpointSummary struct {
	Name   string          `json:"name"`
	Class  Class           `json:"class"`
	Passed bool            `json:"passed"`
	Groups map[Group]Count `json:"groups"`
	// Unruled means that the checkpoint has no rule to pass by.
	Unruled bool `json:"unruled,omitempty"`
}

// Summary of c.
func (c *Checkpoint) Summary() CheckpointSummary {
	return CheckpointSummary{Name: c.Name, Class: c.Class, Passed: c.Passed, Groups: c.Groups, Unruled: !c.Ruled()}
}

// SumCell summarizes a cell from its checkpoints; a missing verdict has the class NotJudged. A cell without
// checkpoints has not passed.
func SumCell(checkpoints []CheckpointSummary) Cell {
	cell := Cell{Passed: len(checkpoints) > 0, Checkpoints: append([]CheckpointSummary{}, checkpoints...)}
	classes := make([]Class, len(checkpoints))
	for i, c := range checkpoints {
		classes[i] = c.Class
		cell.Passed = cell.Passed && c.Passed
	}
	cell.Status = CellStatus(classes)
	return cell
}

// Suite counts the cells of a suite. Its JSON is the stored form.
type Suite struct {
	Cells    int            `json:"cells"`
	Passed   int            `json:"passed"`
	Statuses map[Status]int `json:"statuses"`
}

// SumSuite counts cells; a missing result has the status Broken.
func SumSuite(cells []Cell) Suite {
	s := Suite{Cells: len(cells), Statuses: map[Status]int{}}
	for _, cell := range cells {
		s.Statuses[cell.Status]++
		if cell.Passed {
			s.Passed++
		}
	}
	return s
}
