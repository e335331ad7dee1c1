package eval

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// taskResults returns the results of tasks among the goals and their dependencies, by name. Results in a closed
// partition come from its record. For stale tasks of a dry run, they are the last recorded ones.
func (x *execution) taskResults() []report.Task {
	found := map[string]report.Task{}
	for _, part := range x.project.closed() {
		for _, t := range part.facts.Tasks {
			found[t.Name] = t
		}
	}
	declared, stale := x.declaredTasks(), false
	for _, id := range x.goals.nodes() {
		n, st := x.project.Plan.Graph.Node(id), x.rep.Status(id)
		switch {
		case n.Kind != plan.KindTask:
		case st.State != "" && !st.Unknown:
			t := declared.result(n, st)
			found[t.Name] = t
		default:
			stale = true
		}
	}
	if stale {
		recorded := x.recorded().Tasks
		for d := range x.decisions(x.goals.nodes()) {
			if t, ok := recorded[d.Task]; ok && d.Kind == plan.KindTask && found[d.Task].Name == "" {
				t.State, t.Cause = d.State, d.Root
				found[t.Name] = t
			}
		}
	}
	all := slices.Collect(maps.Values(found))
	report.TasksInOrder(all)
	return all
}

// declaredTasks maps names to the tasks of a configuration.
type declaredTasks struct {
	cfg    *lang.Config
	byName map[string]*lang.Task
}

func (x *execution) declaredTasks() declaredTasks {
	d := declaredTasks{x.call.Config, make(map[string]*lang.Task, len(x.call.Config.Tasks))}
	for _, t := range x.call.Config.Tasks {
		d.byName[t.Name] = t
	}
	return d
}

// result returns the result of a decided task.
func (d declaredTasks) result(n *graph.Node, st *graph.Status) report.Task {
	t := report.Task{Name: n.Label("task"), Outcome: string(st.State), Message: st.Message, Cause: st.Cause, Seconds: st.Seconds}
	switch st.State {
	case event.Cached:
		t.Outcome, t.Message, t.Cause, t.Seconds = report.TaskDone, "", "", st.Saved
	case event.Blocked, event.Interrupted:
		t.Message = st.Cause
	}
	if of := d.byName[t.Name]; of != nil && t.Outcome == report.TaskDone {
		for _, o := range of.Outputs {
			made, ok := st.Output(o.Name)
			if !ok {
				continue
			}
			product := report.Product{Name: o.Name, Path: o.Path, Digest: made.Digest.String()}
			if o.Publish != "" {
				product.Publish = d.cfg.Relative(o.Publish)
			}
			t.Products = append(t.Products, product)
		}
	}
	return t
}

// encodeTasks encodes task results for a run's manifest.
func encodeTasks(tasks []report.Task) (json.RawMessage, error) {
	if len(tasks) == 0 {
		return nil, nil
	}
	return json.Marshal(tasks)
}
