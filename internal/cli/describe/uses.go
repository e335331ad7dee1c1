package describe

import (
	"cmp"
	"strconv"

	"github.com/fevalgraph/fevalgraph/eval"
)

// UsesObject is the JSON of find.
type UsesObject struct {
	Schema   int    `json:"schema"`
	Term     string `json:"term"`
	Kind     string `json:"kind"` // digest, file, image or requirement
	Digest   string `json:"digest,omitempty"`
	Runs     int    `json:"runs"`     // searched runs
	Verdicts int    `json:"verdicts"` // searched verdicts and executions of tasks
	Unknown  int    `json:"unknown"`  // nodes whose records are gone
	Uses     []Used `json:"uses"`
}

// Used is a verdict, or a task, that used the search term.
type Used struct {
	Problem    string   `json:"problem"`
	Checkpoint string   `json:"checkpoint"`
	Solution   string   `json:"solution"`
	Backend    string   `json:"backend"`
	Repeat     int      `json:"repeat"`
	Verdict    string   `json:"verdict"`
	Score      *float64 `json:"score"`
	Present    string   `json:"present,omitempty"` // current state: fresh, stale ...; "" if it is not the last verdict
	Runs       []string `json:"runs"`              // runs that judged or served it, the latest first
	Node       string   `json:"node"`              // node that used the term
	Field      string   `json:"field"`             // field of its manifest, or output
	Task       string   `json:"task,omitempty"`    // name of the task, which is in no cell
}

// UsesObjectOf returns the JSON object of uses of a term.
func UsesObjectOf(term string, f *eval.FoundUses) UsesObject {
	o := UsesObject{Schema: 1, Term: term, Kind: f.Kind, Digest: f.Digest, Runs: f.Runs, Verdicts: f.Verdicts, Unknown: f.Unknown, Uses: []Used{}}
	for i, use := range f.Found {
		c, task := use.Cell, ""
		if use.Task != nil {
			task = use.Task.Name
		}
		o.Uses = append(o.Uses, Used{c.Problem, c.Checkpoint, c.Solution, c.Backend, c.Repeat, f.Verdict(i), use.Result.Score,
			f.Present[i], use.Runs, use.Node, use.Field, task})
	}
	return o
}

// Uses returns the rows of a table of verdicts and tasks.
func Uses(f *eval.FoundUses) (rows [][]string) {
	for i, use := range f.Found {
		score := "-"
		if use.Result.Score != nil {
			score = strconv.FormatFloat(*use.Result.Score, 'g', 6, 64)
		}
		rows = append(rows, []string{use.Name(), f.Verdict(i), score, cmp.Or(f.Present[i], "-"),
			strconv.Itoa(len(use.Runs)), use.Runs[0], use.Node, use.Field})
	}
	return rows
}
