package page

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// noteColumns limits notes in tables, in columns of text.
const noteColumns = 200

// index is the data that the page reads first: everything that its tables show. web/src/data.ts has the same
// names.
type index struct {
	Schema      int               `json:"schema"`
	Project     string            `json:"project"`
	Version     string            `json:"version"`
	Live        bool              `json:"live,omitempty"`
	Foreign     bool              `json:"foreign,omitempty"` // of files of other programs
	Notes       []string          `json:"notes,omitempty"`   // on them
	Runs        []runHead         `json:"runs"`
	Cells       cellColumns       `json:"cells"`
	Checkpoints checkpointColumns `json:"checkpoints"`
	Past        []past            `json:"past"`        // all runs but the last
	Differences []difference      `json:"differences"` // all runs but the last
	Leaders     []board           `json:"leaders"`
	Matrix      heat              `json:"matrix"`
	Since       int               `json:"since"` // index in Differences of the latest run that is comparable with the last, or -1
	Concerns    []concern         `json:"concerns"`
	Summary     report.Summary    `json:"summary"`
	Tasks       []report.Task     `json:"tasks,omitempty"`
	Chunks      []chunk           `json:"chunks"`
	Work        string            `json:"work,omitempty"` // chunk of the timeline
	Figures     string            `json:"figures"`        // chunk of the figures
	Trees       []chunk           `json:"trees"`          // submissions
	Grids       []chunk           `json:"grids"`          // tests and solutions, by problem, in the order of Matrix
	Outcomes    []verdict.Outcome `json:"outcomes"`       // sorted by how much attention they need
	Groups      []verdict.Group   `json:"groups"`
}

type runHead struct {
	Run       string  `json:"run"`
	Start     string  `json:"start,omitempty"`
	Selection string  `json:"selection,omitempty"`
	Seconds   float64 `json:"seconds"`
	Executed  int     `json:"executed"`
	Cached    int     `json:"cached"`
	Ended     bool    `json:"ended"`
	Exit      int     `json:"exit"`
	Verdicts  string  `json:"verdicts"`
}

// cellColumns has an element for each cell of the last run.
type cellColumns struct {
	Problem  *column            `json:"problem"`
	Solution *column            `json:"solution"`
	Backend  *column            `json:"backend"`
	Repeat   []int              `json:"repeat"`
	Suites   *column            `json:"suites"` // names, one a line
	Labels   map[string]*column `json:"labels"`
	Outcome  *column            `json:"outcome"`
	Remark   *column            `json:"remark"`
	Seconds  []float64          `json:"seconds"`
	Score    numbers            `json:"score"`
	Share    numbers            `json:"share"` // share of checkpoints that passed, or of 100 points; null without a verdict
	From     []int              `json:"from"`  // index of the first checkpoint; has an additional last element
}

// checkpointColumns has an element for each checkpoint, cell by cell.
type checkpointColumns struct {
	Name    *column   `json:"name"`
	Outcome *column   `json:"outcome"`
	Words   *column   `json:"words"` // the words for the verdict in selectors, separated by spaces; empty for a cell without checkpoints
	Note    *column   `json:"note"`
	Seconds []float64 `json:"seconds"`
	Score   numbers   `json:"score"`
	Scope   *column   `json:"scope"`  // groups of tests that the policy looks at, separated by spaces
	Passed  [][]int   `json:"passed"` // tests by group
	Total   [][]int   `json:"total"`
}

// past holds the verdicts on checkpoints in another run, in the order of checkpointColumns.
type past struct {
	Outcome *column `json:"outcome"` // missing if that run does not contain the checkpoint
	Score   numbers `json:"score"`
}

type difference struct {
	Before  string   `json:"before"`
	After   string   `json:"after"`
	Same    int      `json:"same"`
	Changes []change `json:"changes"`
}

type change struct {
	Kind   report.ChangeKind `json:"kind"`
	Name   string            `json:"name"`
	Cell   int               `json:"cell"` // -1 if the cell is gone
	Before string            `json:"before,omitempty"`
	After  string            `json:"after,omitempty"`
	Cause  string            `json:"cause,omitempty"`
	Test   string            `json:"test,omitempty"` // newly failing test
	Said   string            `json:"said,omitempty"`
}

// newIndex returns the index of a page, without chunks. entries and contenders are those of its last run.
func newIndex(p *Page, entries []report.Entry, contenders []*report.Contenders) *index {
	last := &p.Runs[len(p.Runs)-1]
	x := &index{Schema: 1, Project: p.Project, Version: p.Version, Foreign: p.Foreign, Notes: p.Notes, Past: []past{}, Differences: []difference{}, Chunks: []chunk{}, Leaders: []board{}, Grids: []chunk{}, Trees: []chunk{},
		Summary: report.Summarize(last.Results, nil), Tasks: last.Results.Tasks, Groups: verdict.Groups[:],
		Outcomes: []verdict.Outcome{verdict.OutcomePassed, verdict.OutcomeScored, verdict.OutcomeSkipped, verdict.OutcomeFailed,
			verdict.OutcomeNotReached, verdict.OutcomeErrored, verdict.OutcomeBroken}}
	x.fillCells(entries)
	x.fillCheckpoints(entries, p.Words)
	for i := range p.Runs {
		r := &p.Runs[i]
		x.Runs = append(x.Runs, headOf(r))
		if i < len(p.Runs)-1 {
			x.Past = append(x.Past, pastOf(r.Results, entries))
			x.Differences = append(x.Differences, differenceOf(r.Difference, entries))
		}
	}
	for _, c := range contenders {
		x.Leaders = append(x.Leaders, boardOf(c))
	}
	addAttempts(last.Results, x.Leaders)
	x.Matrix = heatOf(report.MatrixOf(last.Results))
	x.Since = sinceOf(p.Runs)
	x.Concerns = concernsOf(entries)
	return x
}

func headOf(r *Run) runHead {
	h := runHead{Run: r.ID, Selection: r.Selection, Seconds: r.Seconds, Executed: r.Executed, Cached: r.Cached, Ended: r.Ended, Exit: r.Exit}
	if r.Results != nil {
		h.Verdicts = report.Summarize(r.Results, nil).String()
	}
	if !r.Start.IsZero() {
		h.Start = r.Start.UTC().Format(time.RFC3339)
	}
	return h
}

// fillCells fills the columns of cells. Entries of a cell must be adjacent.
func (x *index) fillCells(entries []report.Entry) {
	c := &x.Cells
	c.Problem, c.Solution, c.Backend, c.Suites, c.Outcome, c.Remark = newColumn(0), newColumn(0), newColumn(0), newColumn(0), newColumn(0), newColumn(0)
	c.Repeat, c.Seconds, c.Score, c.Share, c.From = []int{}, []float64{}, numbers{}, numbers{}, []int{}
	c.Labels = map[string]*column{}
	for i := range entries {
		for label := range entries[i].Cell.Labels {
			c.Labels[label] = newColumn(0)
		}
	}
	for i := range entries {
		cell := entries[i].Cell
		if i > 0 && entries[i-1].Cell == cell {
			continue
		}
		row := report.RowOf(cell)
		c.Problem.add(cell.Problem)
		c.Solution.add(cell.Solution)
		c.Backend.add(cell.Backend)
		c.Repeat = append(c.Repeat, cell.Repeat)
		c.Suites.addIf(strings.Join(cell.Suites, "\n"), len(cell.Suites) > 0)
		for label, column := range c.Labels {
			value, has := cell.Labels[label]
			column.addIf(value, has)
		}
		c.Outcome.add(row.Outcome)
		c.Remark.add(text.Line(row.Remark, noteColumns))
		c.Seconds = append(c.Seconds, milliseconds(row.Seconds))
		c.Score = append(c.Score, cell.Score)
		c.From = append(c.From, i)
		c.Share = append(c.Share, nil)
		if share, ok := report.CellShare(cell); ok {
			c.Share[len(c.Share)-1] = thousandths(share)
		}
	}
	c.From = append(c.From, len(entries))
	c.Score = c.Score.orNil()
}

func thousandths(v float64) *float64 {
	v = math.Round(1000*v) / 1000
	return &v
}

// milliseconds rounds seconds to milliseconds, to save space.
func milliseconds(seconds float64) float64 {
	if seconds > 1e12 { // a thousand times as much could overflow
		return seconds
	}
	return math.Round(seconds*1000) / 1000
}

func (x *index) fillCheckpoints(entries []report.Entry, words func(report.Checkpoint) []string) {
	c, n := &x.Checkpoints, len(entries)
	c.Name, c.Outcome, c.Words, c.Note, c.Scope = newColumn(n), newColumn(n), newColumn(n), newColumn(n), newColumn(n)
	c.Seconds, c.Score = make([]float64, n), make(numbers, n)
	c.Passed, c.Total = make([][]int, len(verdict.Groups)), make([][]int, len(verdict.Groups))
	for g := range verdict.Groups {
		c.Passed[g], c.Total[g] = make([]int, n), make([]int, n)
	}
	for i := range entries {
		e := &entries[i]
		c.Name.add(e.Checkpoint.Name)
		c.Outcome.add(string(e.Outcome))
		c.Words.addIf(strings.Join(words(*e.Checkpoint), " "), len(e.Cell.Checkpoints) > 0)
		c.Scope.add(scopeOf(e.Checkpoint.Policy))
		c.Note.add(text.Line(e.Note, noteColumns))
		c.Seconds[i], c.Score[i] = milliseconds(e.Checkpoint.DurationMS/1000), e.Checkpoint.Score
		for g, group := range verdict.Groups {
			c.Passed[g][i], c.Total[g][i] = e.Checkpoint.Groups[group].Passed, e.Checkpoint.Groups[group].Total
		}
	}
	c.Score = c.Score.orNil()
}

// scopeOf returns the groups of tests that a policy looks at.
func scopeOf(policy string) string {
	var groups []string
	for _, g := range verdict.Groups {
		if n, _ := verdict.Policy(policy).Scope(verdict.GroupCounts{g: {Total: 1}}); n.Total > 0 {
			groups = append(groups, string(g))
		}
	}
	return strings.Join(groups, " ")
}

func pastOf(r *report.Results, entries []report.Entry) past {
	was := map[string]report.Entry{}
	for _, e := range r.Entries() {
		was[e.Name] = e
	}
	p := past{Outcome: newColumn(len(entries)), Score: make(numbers, len(entries))}
	for i := range entries {
		e, known := was[entries[i].Name]
		p.Outcome.addIf(string(e.Outcome), known)
		if known {
			p.Score[i] = e.Checkpoint.Score
		}
	}
	p.Score = p.Score.orNil()
	return p
}

func differenceOf(d *report.Difference, entries []report.Entry) difference {
	at, cell := map[string]int{}, -1
	for i := range entries {
		if i == 0 || entries[i-1].Cell != entries[i].Cell {
			cell++
		}
		at[entries[i].Name] = cell
	}
	out := difference{Before: d.Before, After: d.After, Same: d.Same, Changes: []change{}}
	for i := range d.Changes {
		c := &d.Changes[i]
		made := change{Kind: c.Kind, Name: c.Name, Cell: -1, Before: c.Before, After: c.After, Cause: text.Line(c.Cause(), 2*noteColumns)}
		if n, ok := at[c.Name]; ok {
			made.Cell = n
		}
		if t := c.FirstFailure(); t != nil {
			made.Test, made.Said = t.File+"::"+t.ID, text.Line(t.Said(), noteColumns)
		}
		out.Changes = append(out.Changes, made)
	}
	return out
}

// cellsOf returns the cells of entries.
func cellsOf(entries []report.Entry) []*report.Cell {
	var cells []*report.Cell
	for i := range entries {
		if i == 0 || entries[i-1].Cell != entries[i].Cell {
			cells = append(cells, entries[i].Cell)
		}
	}
	return slices.Clip(cells)
}
