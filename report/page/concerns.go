package page

import (
	"cmp"
	"slices"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// concern groups checkpoints with the same trouble.
type concern struct {
	Kind        string `json:"kind"` // an outcome, "stale", "flaky", "vacuous" or "in process"
	Text        string `json:"text"`
	Checkpoints int    `json:"checkpoints"`
	Cells       []int  `json:"cells"` // affected cells, at most mostConcerned
	More        int    `json:"more,omitempty"`
}

// mostConcerned limits the cells of a concern.
const mostConcerned = 200

// concernKinds lists kinds in display order.
var concernKinds = []string{string(verdict.OutcomeBroken), string(verdict.OutcomeErrored), string(verdict.OutcomeNotReached), string(verdict.OutcomeSkipped), "stale", "flaky", "vacuous", "in process", string(verdict.OutcomeFailed)}

// concernsOf returns what needs attention: missing and failed verdicts by reason, and verdicts to be careful with.
func concernsOf(entries []report.Entry) []concern {
	at, all, cell := map[[2]string]int{}, []concern{}, -1
	add := func(kind, text string) {
		i, known := at[[2]string{kind, text}]
		if !known {
			i = len(all)
			at[[2]string{kind, text}] = i
			all = append(all, concern{Kind: kind, Text: text, Cells: []int{}})
		}
		c := &all[i]
		c.Checkpoints++
		switch {
		case len(c.Cells) > 0 && c.Cells[len(c.Cells)-1] == cell:
		case len(c.Cells) < mostConcerned:
			c.Cells = append(c.Cells, cell)
		default:
			c.More++
		}
	}
	flaky := flakyOf(entries)
	for i := range entries {
		e := &entries[i]
		if i == 0 || entries[i-1].Cell != e.Cell {
			cell++
		}
		switch e.Outcome {
		case verdict.OutcomeBroken, verdict.OutcomeErrored, verdict.OutcomeNotReached, verdict.OutcomeFailed, verdict.OutcomeSkipped:
			add(string(e.Outcome), text.Line(text.FirstLine(cmp.Or(e.Checkpoint.Trouble(), e.Note, string(e.Checkpoint.Class))), noteColumns))
		}
		if e.Checkpoint.State != "" {
			add("stale", "The verdict of an earlier run is out of date: "+text.Line(e.Checkpoint.State, noteColumns))
		}
		if e.Checkpoint.Vacuous {
			add("vacuous", "It passed with no test that its policy looks at.")
		}
		if e.Outcome != verdict.OutcomeBroken && e.Checkpoint.Import == verdict.ImportInProcess {
			add("in process", "The grader ran the submission in its own process, which can give itself any score.")
		}
		if flaky[repeatOf(e)] {
			add("flaky", "The verdict differs between repeats.")
		}
	}
	slices.SortStableFunc(all, func(a, b concern) int {
		return cmp.Or(cmp.Compare(slices.Index(concernKinds, a.Kind), slices.Index(concernKinds, b.Kind)), cmp.Compare(b.Checkpoints, a.Checkpoints))
	})
	return all
}

// repeatOf returns a key that the repeats of an entry share.
func repeatOf(e *report.Entry) [4]string {
	return [4]string{e.Cell.Problem, e.Cell.Solution, e.Cell.Backend, e.Checkpoint.Name}
}

// flakyOf returns the keys of entries that passed in some repeats and failed in others.
func flakyOf(entries []report.Entry) map[[4]string]bool {
	first, flaky := map[[4]string]verdict.Outcome{}, map[[4]string]bool{}
	for i := range entries {
		e := &entries[i]
		if e.Outcome != verdict.OutcomePassed && e.Outcome != verdict.OutcomeFailed {
			continue
		}
		key := repeatOf(e)
		if was, known := first[key]; known && was != e.Outcome {
			flaky[key] = true
		}
		first[key] = e.Outcome
	}
	return flaky
}

// sinceOf returns the index of the latest earlier run that selected the same cells as the last one, or all
// cells. Otherwise it returns the previous run, or -1 if there is only one run.
func sinceOf(runs []Run) int {
	last := len(runs) - 1
	for i := last - 1; i >= 0; i-- {
		if !runs[i].Partial || runs[i].Selection == runs[last].Selection {
			return i
		}
	}
	return last - 1
}
