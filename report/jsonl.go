package report

import "io"

// JSONLine encodes a line of the jsonl format: a cell of the json format with a single checkpoint instead of
// all. A cell without checkpoints has one line with a null checkpoint.
type JSONLine struct {
	Schema int    `json:"schema"`
	Run    string `json:"run"`
	Cell
	// Checkpoints hides the embedded field of this name; it is always nil and omitted.
	Checkpoints *struct{}   `json:"checkpoints,omitempty"`
	Checkpoint  *Checkpoint `json:"checkpoint"`
}

// TaskLine encodes a task in the jsonl format.
type TaskLine struct {
	Schema int    `json:"schema"`
	Run    string `json:"run"`
	Task   *Task  `json:"task"`
}

func writeJSONLines(w io.Writer, r *Results, _ Options) error {
	e := encoder(w)
	for _, row := range rowsOf(withLists(r)) {
		l := JSONLine{Schema: Schema, Run: r.Run, Cell: *row.cell, Checkpoint: row.checkpoint}
		if len(row.cell.Checkpoints) == 0 {
			l.Checkpoint = nil
		}
		if err := e.Encode(l); err != nil {
			return err
		}
	}
	for i := range r.Tasks {
		if err := e.Encode(TaskLine{Schema, r.Run, &r.Tasks[i]}); err != nil {
			return err
		}
	}
	return nil
}
