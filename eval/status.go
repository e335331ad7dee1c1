package eval

import (
	"context"
	"errors"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// CheckpointStatus describes a checkpoint of a cell in the current state of the project.
type CheckpointStatus struct {
	Cell plan.CellID // with its checkpoint
	// Last is the verdict for the current inputs if State is Fresh. Otherwise it is the last recorded result,
	// which can be for other inputs, or nil.
	Last  *report.Checkpoint
	Run   string // the run that last judged it or served its verdict; "" if unknown
	State string // as in Decision; "error" of an invalid problem
	Cause string // "" if fresh
	Node  string // address of the node that Cause is about; "" if fresh

	of      *report.Cell       // its cell in the current configuration, without checkpoints
	never   *report.Checkpoint // its result if Last is nil
	invalid bool               // its problem is invalid, so the cell has no checkpoints
}

// Status returns the state of every selected checkpoint, and the selected tasks that a run would execute, in
// topological order.
func Status(ctx context.Context, o Options, s Selection) (all []CheckpointStatus, tasks []Decision, err error) {
	f, err := openChanged(ctx, o, Reading)
	if err != nil {
		return nil, nil, err
	}
	return f.status(ctx, s)
}

// status implements Status, and closes the call.
func (f *freshness) status(ctx context.Context, s Selection) (all []CheckpointStatus, tasks []Decision, err error) {
	defer f.call.close()
	x, all, err := f.present(ctx, Request{Selection: s})
	if err != nil {
		return nil, nil, err
	}
	for d := range x.decisions(x.rep.Nodes) {
		if d.Kind == plan.KindTask && d.State != Fresh {
			d.Cause = d.Root
			tasks = append(tasks, d)
		}
	}
	return all, tasks, nil
}

// present determines the state of the requested checkpoints by a dry run.
func (f *freshness) present(ctx context.Context, r Request) (x *execution, all []CheckpointStatus, err error) {
	if x, err = f.decide(ctx, r); err == nil {
		all, err = x.checkpoints(ctx)
	}
	return x, all, err
}

// checkpoints returns the state of the checkpoints among the goals, in the order of results. All views of the
// current project are based on it: the results of fresh partitions, and the answers that a dry run finds for
// the current keys of other nodes.
func (x *execution) checkpoints(ctx context.Context) ([]CheckpointStatus, error) {
	all, err := x.compiledCheckpoints(ctx)
	if err != nil {
		return nil, err
	}
	fresh, err := x.goals.freshResults()
	if err == nil {
		err = fresh.load()
	}
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	latest := x.latestFiles()
	for at, part := range x.project.fresh.freshParts() {
		run := latest.Run
		if !slices.Contains(latest.Partitions, part.File.String()) {
			run = part.facts.Run
		}
		for i := range fresh.parts[at].cells {
			cell := &fresh.parts[at].cells[i]
			listed := cell.Listed()
			for j := range listed {
				all = append(all, CheckpointStatus{Cell: plan.ResultCell(cell).At(listed[j].Name), Last: &listed[j], Run: run, State: Fresh, of: cell})
			}
		}
	}
	// In the order of results, regardless of what was compiled.
	slices.SortStableFunc(all, func(a, b CheckpointStatus) int { return a.Cell.Compare(b.Cell) })
	return all, nil
}

// latestFiles returns the manifest of the latest run; empty without one.
func (x *execution) latestFiles() event.Manifest {
	run, err := event.FindRun(x.call.records, "latest")
	if err != nil {
		return event.Manifest{}
	}
	m, err := run.Manifest()
	if err != nil {
		errors.As(err, &x.damaged)
		return event.Manifest{}
	}
	return *m
}

// compiledCheckpoints implements checkpoints for compiled cells.
func (x *execution) compiledCheckpoints(ctx context.Context) (all []CheckpointStatus, err error) {
	if len(x.project.Plan.Cells) == 0 {
		return nil, nil
	}
	last := x.recorded().Checkpoints
	runs, _ := event.Runs(x.call.records) // without run ids, no run is named
	asked := make([]bool, x.project.Plan.Graph.Len())
	for _, id := range x.rep.Nodes {
		asked[id] = true
	}
	x.call.stores.Fetch(ctx, x.resultOutputs)
	for _, cell := range x.project.Plan.Cells {
		heading := x.project.Plan.Heading(cell)
		if invalid := cell.Problem.Invalid; len(invalid) > 0 && asked[cell.Unjudged] {
			one := CheckpointStatus{Cell: cell.ID(), Last: &heading.Listed()[0], Run: last[cell.ID()].Run, State: "error", Cause: invalid.Error(), of: &heading, invalid: true}
			all = append(all, one)
		}
		for _, cc := range cell.Checkpoints {
			if !asked[cc.Aggregate] {
				continue
			}
			one := CheckpointStatus{Cell: cell.ID().At(cc.Checkpoint.Name), of: &heading, never: x.project.Plan.NeverJudged(cc)}
			one.State, one.Cause, one.Node = x.freshness(cc)
			known, recorded := last[one.Cell]
			one.Last, err = x.project.Plan.Verdict(ctx, x.call.stores.Store, x.rep, cc)
			switch {
			case cache.IsLost(err):
				one.State, one.Cause, one.Node = "stale", "its result is no longer in the store, or damaged", x.project.Plan.Graph.Node(cc.Aggregate).Addr
			case err != nil:
				return nil, exit.With(exit.NotJudged, err)
			case one.Last != nil:
				one.Run = servedBy(x.rep.Status(cc.Aggregate).Run, runs, one.Last, known)
			}
			if one.Last == nil && recorded {
				one.Last, one.Run = &known.Checkpoint, known.Run
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// servedBy returns the run that last judged a verdict or served it: the run of the last recorded result if that
// is the same result, otherwise the run that made it if the project has its record.
func servedBy(made string, runs []string, c *report.Checkpoint, last history.LastCheckpoint) string {
	switch {
	case last.Run != "" && report.SameResult(c, &last.Checkpoint):
		return last.Run
	case slices.Contains(runs, made):
		return made
	}
	return ""
}

// freshness returns whether a checkpoint's verdict is up to date. If not, the state is that of its first node that is
// not fresh, and so is the cause, unless that node follows others.
func (x *execution) freshness(cc plan.CellCheckpoint) (state, cause, node string) {
	for _, id := range cc.Own {
		st := x.rep.Status(id)
		if state := stateOf(st); state != Fresh {
			cause := causeOf(st)
			if st.Stale {
				cause = x.rootCause(id, x.rootOf(id))
			}
			return state, cause, x.project.Plan.Graph.Node(id).Addr
		}
	}
	return Fresh, "", ""
}

// Present returns the results of the current project, for every checkpoint of the configuration. Run is set on
// checkpoints that another run than the latest judged, and State on checkpoints that a run would judge, also for the
// first time.
func Present(ctx context.Context, o Options) (*report.Results, error) {
	latest, err := event.FindRun(o.Records(), "latest")
	if err != nil {
		return nil, exit.Past(err)
	}
	results, _, err := presentOf(ctx, o, latest.ID, true)
	return results, err
}

// presentOf returns the current state of all checkpoints as results with the id run. stale maps names of checkpoints
// to causes. With strict, a damaged record of a run is an error.
func presentOf(ctx context.Context, o Options, run string, strict bool) (results *report.Results, stale map[string]string, err error) {
	f, err := openChanged(ctx, o, Reading)
	if err != nil {
		return nil, nil, err
	}
	defer f.call.close()
	x, all, err := f.present(ctx, Request{})
	if err == nil && strict && x.damaged != nil { // an older result would look like the last one
		err = exit.Past(x.damaged)
	}
	if err != nil {
		return nil, nil, err
	}
	results, stale = &report.Results{Schema: report.Schema, Run: run, Cells: []report.Cell{}, Tasks: x.taskResults()}, map[string]string{}
	var recorded map[string]report.Task
	if len(results.Tasks) > 0 {
		recorded = x.recorded().Tasks
	}
	for i := range results.Tasks {
		t := &results.Tasks[i]
		if t.State == "" && t.Run == "" { // of the last run with this answer, or else of the run that made it
			if last := recorded[t.Name]; last.Outcome == t.Outcome && slices.Equal(last.Products, t.Products) {
				t.Run = last.Run
			} else if id, ok := x.project.Plan.Graph.Lookup(t.Address()); ok {
				t.Run = x.rep.Status(id).Run
			}
		}
		if t.Run == run {
			t.Run = ""
		}
	}
	add := appendTo(results)
	for _, one := range all {
		if one.State != Fresh {
			stale[one.Cell.String()] = one.Cause
		}
		add(one)
	}
	for i := range results.Cells {
		if cell := &results.Cells[i]; len(cell.Checkpoints) > 0 {
			cell.SumUp()
		}
	}
	return results, stale, nil
}

// result returns the last result with its run and state, or one without a verdict.
func (s *CheckpointStatus) result() report.Checkpoint {
	switch {
	case s.Last == nil:
		return *s.never
	case s.invalid:
		return *s.Last
	}
	c := *s.Last
	c.Run = s.Run
	if c.State = s.State; c.State == Fresh {
		c.State = ""
	}
	return c
}

// appendTo returns a function that adds the state of checkpoints to results.
func appendTo(results *report.Results) func(CheckpointStatus) {
	at := map[plan.CellID]int{}
	for i := range results.Cells {
		cell := &results.Cells[i]
		at[plan.ResultCell(cell)] = i
		cell.Checkpoints = slices.Clone(cell.Checkpoints)
	}
	return func(one CheckpointStatus) {
		i, known := at[one.Cell.Cell()]
		if !known {
			i = len(results.Cells)
			at[one.Cell.Cell()] = i
			cell := *one.of
			cell.Checkpoints = []report.Checkpoint{}
			results.Cells = append(results.Cells, cell)
		}
		if one.invalid {
			return
		}
		c := one.result()
		if c.Run == results.Run {
			c.Run = ""
		}
		results.Cells[i].Checkpoints = append(results.Cells[i].Checkpoints, c)
	}
}
