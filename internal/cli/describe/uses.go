package describe

import (
	"cmp"
	"strconv"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/selection"
)

// UsesObject is the JSON of find.
type UsesObject struct {
	Schema   int    `json:"schema"`
	Term     string `json:"term"`
	Kind     string `json:"kind"` // digest, file, image, requirement
	Digest   string `json:"digest,omitempty"`
	Runs     int    `json:"runs"`     // that were searched
	Verdicts int    `json:"verdicts"` // that were searched
	Unknown  int    `json:"unknown"`  // nodes whose records are gone
	Uses     []Used `json:"uses"`
}

// Used is a verdict that used what was searched.
type Used struct {
	Problem    string   `json:"problem"`
	Checkpoint string   `json:"checkpoint"`
	Solution   string   `json:"solution"`
	Backend    string   `json:"backend"`
	Repeat     int      `json:"repeat"`
	Verdict    string   `json:"verdict"`
	Score      *float64 `json:"score"`
	Present    string   `json:"present,omitempty"` // how it holds now: fresh, stale ...; "" if it is no longer the last one
	Runs       []string `json:"runs"`              // that judged or served it, the latest first
	Node       string   `json:"node"`              // that used it
	Field      string   `json:"field"`             // of its manifest, or an output
}

// UsesObjectOf returns the JSON object of verdicts that used a term.
func UsesObjectOf(term string, f *eval.FoundUses) UsesObject {
	o := UsesObject{Schema: 1, Term: term, Kind: f.Kind, Digest: f.Digest, Runs: f.Runs, Verdicts: f.Verdicts, Unknown: f.Unknown, Uses: []Used{}}
	for i, use := range f.Found {
		c := use.Cell
		o.Uses = append(o.Uses, Used{c.Problem, c.Checkpoint, c.Solution, c.Backend, c.Repeat, selection.VerdictWords(use.Result)[0], use.Result.Score,
			f.Present[i], use.Runs, use.Node, use.Field})
	}
	return o
}

// Uses returns the rows of a table of verdicts.
func Uses(f *eval.FoundUses) (rows [][]string) {
	for i, use := range f.Found {
		score := "-"
		if use.Result.Score != nil {
			score = strconv.FormatFloat(*use.Result.Score, 'g', 6, 64)
		}
		rows = append(rows, []string{use.Cell.String(), selection.VerdictWords(use.Result)[0], score, cmp.Or(f.Present[i], "-"),
			strconv.Itoa(len(use.Runs)), use.Runs[0], use.Node, use.Field})
	}
	return rows
}
