package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/command"
	"github.com/fevalgraph/fevalgraph/tasks/judge"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Results reads the results of some cells from an execution, in order: those with a requested checkpoint,
// with only the requested checkpoints. asked reports whether a node was requested.
func (p *Plan) Results(ctx context.Context, store cache.Store, r *graph.Report, asked func(graph.ID) bool, cells []*Cell) ([]report.Cell, error) {
	var results report.Results
	for _, cell := range cells {
		out, any, err := p.cellResult(ctx, store, r, cell, asked)
		if err != nil {
			return nil, err
		}
		if any {
			results.Cells = append(results.Cells, out)
		}
	}
	results.Sort(nil) // checkpoints are in order
	return results.Cells, nil
}

// Graded returns whether a node's result is that of a checkpoint of a cell.
func (p *Plan) Graded() func(graph.ID) bool {
	graded := make([]bool, p.Graph.Len())
	for _, cell := range p.Cells {
		for _, cc := range cell.Checkpoints {
			graded[cc.Aggregate] = true
		}
	}
	return func(id graph.ID) bool { return graded[id] }
}

// Heading returns the result of a cell without its checkpoints. A cell of an invalid problem has none.
func (p *Plan) Heading(cell *Cell) report.Cell {
	out := report.Cell{
		Problem: cell.Problem.Name, Solution: cell.Solution.Name, Backend: cell.Backend.Addr(), Repeat: cell.Repeat,
		Suites: cell.Suites, Recorded: recordedOf(cell.Solution), Checkpoints: make([]report.Checkpoint, 0, len(cell.Checkpoints)),
	}
	for _, l := range cell.Solution.Labels {
		if out.Labels == nil {
			out.Labels = map[string]string{}
		}
		out.Labels[l.Name] = l.Value
	}
	if len(cell.Problem.Invalid) > 0 {
		return invalidResult(out, cell.Problem)
	}
	return out
}

func (p *Plan) cellResult(ctx context.Context, store cache.Store, r *graph.Report, cell *Cell, asked func(graph.ID) bool) (report.Cell, bool, error) {
	out := p.Heading(cell)
	if len(cell.Problem.Invalid) > 0 {
		return out, asked(cell.Unjudged), nil
	}
	for _, cc := range cell.Checkpoints {
		if !asked(cc.Aggregate) {
			continue
		}
		c, err := p.Verdict(ctx, store, r, cc)
		if err == nil && c == nil {
			c, err = p.withoutVerdict(ctx, store, r, cc)
		}
		if err != nil {
			return out, false, fmt.Errorf("reading the result of %s: %w", p.Graph.Node(cc.Aggregate).Addr, err)
		}
		out.Checkpoints = append(out.Checkpoints, *c)
	}
	out.SumUp()
	return out, len(out.Checkpoints) > 0 || len(cell.Checkpoints) == 0 && asked(cell.Unjudged), nil
}

// Verdict reads the result of a checkpoint from the answer of its grading node for the current key. It returns
// nil if that node has no answer.
func (p *Plan) Verdict(ctx context.Context, store cache.Store, r *graph.Report, cc CellCheckpoint) (*report.Checkpoint, error) {
	st := r.Status(cc.Aggregate)
	if st.State != event.Done && st.State != event.Cached {
		return nil, nil
	}
	var v verdict.Checkpoint
	if err := readOutput(ctx, store, st, tasks.ResultOutput, &v); err != nil {
		return nil, err
	}
	var m verdict.Measurements
	if err := readOutput(ctx, store, r.Status(cc.Measured), tasks.MeasurementsOutput, &m); err != nil {
		return nil, err
	}
	c := report.NewCheckpoint(&v, &m)
	var err error
	c.Figures, err = p.figures(ctx, store, r, cc)
	return &c, err
}

// figures returns the known measurements of tasks about a checkpoint's solution.
func (p *Plan) figures(ctx context.Context, store cache.Store, r *graph.Report, cc CellCheckpoint) (map[string]float64, error) {
	var all map[string]float64
	for _, id := range cc.Figures {
		st := r.Status(id)
		if _, ok := st.Output(command.OutputFigures); !ok {
			continue
		}
		if all == nil {
			all = map[string]float64{}
		}
		if err := readOutput(ctx, store, st, command.OutputFigures, &all); err != nil { // appends to all
			return nil, err
		}
	}
	return all, nil
}

// recordedOf returns the recorded result of a solution, or nil.
func recordedOf(s *lang.Solution) *report.Recorded {
	r := cmp.Or(s.Recorded, s.Results)
	if r == nil {
		return nil
	}
	out := &report.Recorded{By: r.By, Score: r.Score, Valid: r.Valid, Cause: r.Cause, Comparable: r.Comparable, Solved: r.Solved, Last: r.Last, Version: r.Version, VersionHere: r.VersionHere}
	for _, c := range r.Checkpoints {
		if c.Name != "" {
			out.Checkpoints = append(out.Checkpoints, report.RecordedCheckpoint(c))
		}
	}
	return out
}

// Narrow returns the result of a cell with only the requested checkpoints, given the addresses of their
// nodes. It returns false if no part of the cell was requested. asked is called with each checkpoint, and
// with nil for the cell.
func Narrow(cell report.Cell, asked func(addr string, c *report.Checkpoint) bool) (narrowed report.Cell, any bool) {
	id := ResultCell(&cell)
	all := cell.Checkpoints
	cell.Checkpoints = []report.Checkpoint{}
	for i := range all {
		c := &all[i]
		at := id.At(c.Name).GradedAt()
		if asked(at[0], c) || asked(at[1], c) {
			cell.Checkpoints = append(cell.Checkpoints, *c)
		}
	}
	if len(cell.Checkpoints) == len(all) && len(all) > 0 {
		return cell, true
	}
	if len(all) > 0 {
		cell.SumUp()
	}
	return cell, asked(address(KindAggregate, id.Problem, id.name()), nil) || len(cell.Checkpoints) > 0
}

// NeverJudged returns the result of a checkpoint that no run has judged.
func (p *Plan) NeverJudged(cc CellCheckpoint) *report.Checkpoint {
	why := "never judged"
	return &report.Checkpoint{
		Name: cc.Checkpoint.Name, Policy: RuleOf(cc.Checkpoint.Pass).Text(), Class: verdict.NotRun, Message: &why,
		Groups: verdict.NoTestCounts(), Tests: []report.Test{}, State: report.StateNew,
	}
}

// withoutVerdict returns a checkpoint that could not be graded, with the reason.
func (p *Plan) withoutVerdict(ctx context.Context, store cache.Store, r *graph.Report, cc CellCheckpoint) (*report.Checkpoint, error) {
	st := r.Status(cc.Aggregate)
	v := verdict.Checkpoint{
		Name: cc.Checkpoint.Name, Policy: RuleOf(cc.Checkpoint.Pass).Text(), Class: verdict.NotJudged, Groups: verdict.NoTestCounts(),
	}
	if st.State == event.Interrupted {
		v.Class = verdict.NotRun
	}
	message := st.Message
	var broke *report.Culprit
	if st.Input {
		v.Class = verdict.InputError
	}
	if culprit, ok := p.Graph.Lookup(st.Culprit); ok {
		cs := r.Status(culprit)
		message = fmt.Sprintf("%s %s: %s", st.Culprit, cs.State, cs.Message)
		if failed := cs.State == event.Failed && !cs.Input; failed || cs.State == event.Broken {
			broke = &report.Culprit{Addr: st.Culprit, Message: cs.Message}
			if failed {
				v.Class = verdict.Blocked
			}
		}
		if cs.State == event.Skipped {
			v.Class, message = verdict.NotRun, cs.Message
			v.InfrastructureFailure = true
		}
		if cs.Input {
			v.Class = verdict.InputError
		}
	}
	if message == "" {
		message = st.Cause
	}
	v.InfrastructureFailure = v.InfrastructureFailure || v.Class == verdict.NotJudged
	m := verdict.Measurements{Message: message}
	if err := p.casesWithoutScore(ctx, store, r, cc, &v, &m); err != nil {
		return nil, err
	}
	c := report.NewCheckpoint(&v, &m)
	c.Culprit = broke
	var err error
	c.Figures, err = p.figures(ctx, store, r, cc)
	return &c, err
}

// casesWithoutScore adds to a checkpoint without a score the cases that have a verdict, and the cases that prevent
// a score.
func (p *Plan) casesWithoutScore(ctx context.Context, store cache.Store, r *graph.Report, cc CellCheckpoint, c *verdict.Checkpoint, m *verdict.Measurements) error {
	for _, one := range cc.Cases {
		st := r.Status(one.Verdict)
		var v judge.Verdict
		switch st.State {
		case event.Done, event.Cached:
			if graph.Refused(st.Outputs) {
				continue
			}
			if err := readOutput(ctx, store, st, judge.OutputVerdict, &v); err != nil {
				return err
			}
		case event.Broken:
			v = judge.Verdict{Verdict: string(verdict.NotJudged), Message: st.Message}
			if st.Fault == judge.CheckerFailed {
				v.Verdict = judge.CheckerFailed
				if c.Class == verdict.NotJudged {
					c.Class = verdict.CheckerFailed
				}
			}
		default:
			continue
		}
		t := judge.Test(one.Name, v)
		if st.State == event.Broken {
			t.Status = verdict.TestError
		}
		c.Groups.Add(t.Group, t.Status)
		c.Tests = append(c.Tests, t)
		m.Tests = append(m.Tests, verdict.TestMeasurement{Message: v.Message})
	}
	c.Collected = len(c.Tests)
	return nil
}

// Arrange sums up cells whose checkpoints were merged, and sorts results.
func (p *Plan) Arrange(r *report.Results) {
	for i := range r.Cells {
		if len(r.Cells[i].Checkpoints) > 0 {
			r.Cells[i].SumUp()
		}
	}
	order := map[string][]string{}
	for _, problem := range p.Config.Problems {
		for _, c := range problem.Checkpoints {
			order[problem.Name] = append(order[problem.Name], c.Name)
		}
	}
	r.Sort(func(problem string) []string { return order[problem] })
}

func readOutput(ctx context.Context, store cache.Store, st *graph.Status, name string, into any) error {
	for _, o := range st.Outputs {
		if o.Name != name {
			continue
		}
		content, err := cache.ReadBlob(ctx, store, o.Digest, -1)
		if err != nil {
			return err
		}
		return json.Unmarshal(content, into)
	}
	return fmt.Errorf("output %q not found", name)
}

func nonEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
