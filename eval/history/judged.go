package history

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// Judged finds the runs that judged or made results, such as those of the current project.
type Judged struct {
	results *report.Results
	runs    map[string]string // by name of cell or checkpoint, or address of task
}

// JudgedIn finds the runs of some results. A cell belongs to the last run of its checkpoints.
func JudgedIn(results *report.Results) Judged {
	j := Judged{results: results, runs: map[string]string{}}
	for i := range results.Cells {
		id, last := plan.ResultCell(&results.Cells[i]), ""
		for _, c := range results.Cells[i].Listed() {
			run := cmp.Or(c.Run, results.Run)
			last = max(last, run)
			j.runs[id.At(c.Name).String()] = run
		}
		j.runs[id.String()] = last
	}
	for i := range results.Tasks {
		t := &results.Tasks[i]
		j.runs[t.Address()] = cmp.Or(t.Run, results.Run)
	}
	return j
}

// Run returns the run that judged the named cell or checkpoint, or executed the task, or "".
func (j Judged) Run(name string) string { return j.runs[name] }

// Runs lists the runs, the latest first.
func (j Judged) Runs() []string {
	runs := slices.Compact(slices.Sorted(maps.Values(j.runs)))
	slices.Reverse(runs)
	return runs
}

// Owner returns the name of the cell or checkpoint that a node belongs to: the part of its address after the
// kind, without a part of a checkpoint at the end, or a case after the problem. A task owns itself and its inputs.
func (j Judged) Owner(addr string) (string, bool) {
	kind, name, _ := strings.Cut(addr, ":")
	switch kind {
	case plan.KindInput:
		name = name[:max(strings.LastIndexByte(name, '/'), 0)]
		fallthrough
	case plan.KindTask:
		name = plan.KindTask + ":" + name
		_, ok := j.runs[name]
		return name, ok
	}
	for whole := name; strings.Contains(whole, "@"); {
		if _, ok := j.runs[whole]; ok {
			return whole, true
		}
		cut := strings.LastIndexByte(whole, '/')
		if cut < 0 {
			break
		}
		whole = whole[:cut]
	}
	problem, rest, _ := strings.Cut(name, "/")
	_, solution, _ := strings.Cut(rest, "/")
	name = problem + "/" + solution
	_, ok := j.runs[name]
	return name, ok && solution != ""
}

// Nodes calls fn for the nodes that produced the results, with the addresses of their dependencies. Nodes
// shared by cells are those of the latest run. A verdict whose run has no results, as after a kill, or no record has
// no nodes.
func (j Judged) Nodes(state event.Records, fn func(row *graph.Row, deps []string)) error {
	for _, run := range j.Runs() {
		record := &Record{State: state, Run: event.OpenRun(state, run)}
		err := record.read(nil)
		if errors.Is(err, errNoResults) {
			continue
		}
		if err != nil {
			return err
		}
		foreign := j.differing(record.Results, run)
		err = record.Nodes(func(n *graph.Row, deps []string) {
			if name, owned := j.Owner(n.Addr); !owned || j.runs[name] == run && !foreign[name] {
				fn(n, deps)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// differing returns the names whose verdict differs from the recorded verdict of their run.
func (j Judged) differing(recorded *report.Results, run string) map[string]bool {
	had := map[string]*report.Checkpoint{}
	each(recorded, func(name string, c *report.Checkpoint) { had[name] = c })
	foreign := map[string]bool{}
	each(j.results, func(name string, c *report.Checkpoint) {
		if was := had[name]; j.runs[name] == run && (was == nil || !report.SameResult(was, c)) {
			foreign[name] = true
		}
	})
	return foreign
}

func each(results *report.Results, fn func(name string, c *report.Checkpoint)) {
	for i := range results.Cells {
		cell := &results.Cells[i]
		for k := range cell.Checkpoints {
			fn(plan.ResultCell(cell).At(cell.Checkpoints[k].Name).String(), &cell.Checkpoints[k])
		}
	}
}
