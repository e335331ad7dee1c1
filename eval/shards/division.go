package shards

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Division assigns the stale cells of a plan to machines that share this machine's store but do not
// communicate. `plan --shards` prints it; `run --cells` and `merge` read it.
type Division struct {
	Schema  int                 `json:"schema"`
	Asked   selection.Selection `json:"asked"`            // selected cells, stale or not
	Target  float64             `json:"target_seconds"`   // target duration of a shard with this many jobs
	Jobs    int                 `json:"jobs"`             // per machine
	Seconds float64             `json:"expected_seconds"` // sequential duration of all stale work
	Fresh   int                 `json:"fresh_cells"`
	// Guessed are stale cells without a known duration. The median of the others is used instead.
	Guessed int     `json:"guessed_cells"`
	Shards  []Shard `json:"shards"` // empty if nothing is stale
	// Shared lists the stale tasks that cells of several shards need, by address. A task that is not
	// reproducible has different outputs in each shard, unless `run --shard shared` runs it first.
	Shared []string `json:"shared_tasks,omitempty"`
}

// divisionSchema must be incremented if old readers would misread a Division.
const divisionSchema = 1

// NewDivision returns a division without shards, as if all cells were fresh. target is in seconds.
func NewDivision(asked selection.Selection, target float64, jobs, cells int) *Division {
	return &Division{Schema: divisionSchema, Asked: asked, Target: target, Jobs: jobs, Fresh: cells, Shards: []Shard{}}
}

// Divide divides the stale cells among targets, found by a dry run, into count shards or, if count is 0, into
// as many as needed for each to take the target.
func (d *Division) Divide(p *plan.Plan, targets []graph.ID, rep *graph.Report, count int) {
	cells, common := staleCells(p, targets, rep)
	d.Fresh -= len(cells)
	for _, c := range cells {
		if c.Seconds == 0 {
			d.Guessed++
		}
	}
	d.Shards = Divide(cells, common, count, d.Target*float64(d.Jobs))
	for _, s := range d.Shards {
		d.Seconds += s.Seconds
	}
	d.Shared = sharedTasks(p, d.Shards, rep)
}

// sharedTasks returns the addresses of stale tasks that cells of several shards need.
func sharedTasks(p *plan.Plan, shards []Shard, rep *graph.Report) (addrs []string) {
	shard := map[string]int{}
	for _, s := range shards {
		for _, name := range s.Cells {
			shard[name] = s.Shard
		}
	}
	users, several := map[graph.ID]int{}, map[graph.ID]bool{} // first shard that needs a task
	for _, cell := range p.Cells {
		at := shard[cell.ID().String()]
		if at == 0 {
			continue
		}
		for _, id := range dependencies(p, cell.Targets()) {
			if p.Graph.Node(id).Kind != plan.KindTask || rep.Status(id).State == event.Cached {
				continue
			}
			if first, used := users[id]; used && first != at {
				several[id] = true
			} else {
				users[id] = at
			}
		}
	}
	for id := range several {
		addrs = append(addrs, p.Graph.Node(id).Addr)
	}
	slices.Sort(addrs)
	return addrs
}

// dependencies returns nodes and their dependencies. Graph.Closure would visit every node of the graph, for each cell.
func dependencies(p *plan.Plan, all []graph.ID) []graph.ID {
	seen := map[graph.ID]bool{}
	for _, id := range all {
		seen[id] = true
	}
	for at := 0; at < len(all); at++ {
		for _, d := range p.Graph.Node(all[at]).Deps {
			if !seen[d.On] {
				seen[d.On] = true
				all = append(all, d.On)
			}
		}
	}
	return all
}

// staleCells returns the cells with work other than what a merge does anyway, and the seconds of work that
// several cells share.
func staleCells(p *plan.Plan, targets []graph.ID, rep *graph.Report) (cells []Cell, common []float64) {
	asked, shared := make([]bool, p.Graph.Len()), map[graph.ID]int{}
	for _, id := range p.Graph.Closure(targets) {
		asked[id] = true
	}
	for _, cell := range p.Cells {
		one := Cell{Name: cell.ID().String(), Problem: cell.Problem.Name}
		stale := false
		for _, id := range dependencies(p, cell.Targets()) {
			n := p.Graph.Node(id)
			if !asked[id] || n.Pinned != nil || plan.InProcess(n) || rep.Status(id).State == event.Cached {
				continue
			}
			stale = true
			if seconds := rep.Status(id).Expected; plan.NodeCell(n).Cell() == cell.ID() {
				one.Seconds += seconds
			} else if seconds > 0 {
				at, known := shared[id]
				if !known {
					at = len(common)
					shared[id], common = at, append(common, seconds)
				}
				one.Common = append(one.Common, at)
			}
		}
		if stale {
			cells = append(cells, one)
		}
	}
	return cells, common
}

// ReadDivision reads a Division from a file.
func ReadDivision(file string) (*Division, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseDivision(content)
}

// parseDivision reads a Division in JSON.
func parseDivision(content []byte) (*Division, error) {
	d := new(Division)
	if err := json.Unmarshal(content, d); err != nil {
		return nil, fmt.Errorf("not an output of `fevalgraph plan --shards auto --json`: %w", err)
	}
	if d.Schema != divisionSchema {
		return nil, fmt.Errorf("it has schema %d; this version reads %d", d.Schema, divisionSchema)
	}
	return d, nil
}
