package plan

import (
	"slices"
	"strconv"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// checkpoints adds the nodes of each checkpoint of a cell. A checkpoint that the solution does not answer
// gets a node of kind that reports it as not reached.
func (c *compiler) checkpoints(cell *Cell, kind string, add func(lang.SolutionCheckpoint) (CellCheckpoint, error)) error {
	cell.Checkpoints = make([]CellCheckpoint, 0, len(cell.Solution.Checkpoints))
	for _, answer := range cell.Solution.Checkpoints {
		if cell.Solution.Omits(answer) {
			continue
		}
		var cc CellCheckpoint
		if answer.Missing {
			cc = c.notReached(kind, cell, answer)
		} else {
			var err error
			if cc, err = add(answer); err != nil {
				return err
			}
		}
		cell.Checkpoints = append(cell.Checkpoints, cc)
	}
	return nil
}

// notReached adds the node of a checkpoint for which the solution has no source.
func (c *compiler) notReached(kind string, cell *Cell, answer lang.SolutionCheckpoint) CellCheckpoint {
	cp := answer.Checkpoint
	id := c.plan.Graph.Add(graph.Node{
		Addr: address(kind, cell.Problem.Name, cp.Name, cell.Name()), Kind: kind, Labels: labels(cell, cp), Pool: inProcessPool, Kept: true,
		Task: &tasks.NoSubmission{Why: "the solution has no source for it", Policy: RuleOf(cp.Pass), NotReached: true, Checkpoint: cp.Name},
	})
	return CellCheckpoint{Checkpoint: cp, Own: []graph.ID{id}, Measured: id, Aggregate: id}
}

// unjudged adds the node of a cell without checkpoints, by which it can be selected.
func (c *compiler) unjudged(cell *Cell, deps []graph.Dep) {
	cell.Unjudged = c.plan.Graph.Add(graph.Node{
		Addr: address(KindAggregate, cell.Problem.Name, cell.Name()), Kind: KindAggregate, Labels: labels(cell, nil), Task: tasks.Nothing{}, Deps: deps, Pool: inProcessPool,
	})
}

func labels(cell *Cell, cp *lang.Checkpoint) []graph.Label {
	checkpoint := ""
	if cp != nil {
		checkpoint = cp.Name
	}
	suites := make([]graph.Label, len(cell.Suites))
	for i, s := range cell.Suites {
		suites[i] = graph.Label{Name: "suite", Value: s}
	}
	return slices.Concat(problemLabels(cell.Problem, checkpoint), []graph.Label{
		{Name: "solution", Value: cell.Solution.Name},
		{Name: "backend", Value: cell.Backend.Addr()},
		{Name: "repeat", Value: strconv.Itoa(cell.Repeat)},
	}, suites)
}

func problemLabels(p *lang.Problem, checkpoint string) []graph.Label {
	l := []graph.Label{{Name: "problem", Value: p.Name}}
	if checkpoint != "" {
		l = append(l, graph.Label{Name: "checkpoint", Value: checkpoint})
	}
	for _, tag := range p.Tags {
		l = append(l, graph.Label{Name: "tag", Value: tag})
	}
	return l
}

// retryOf returns the policy of a suite, or of a backend if s is nil or sets no policy.
func retryOf(s *lang.Suite, b *lang.Backend) graph.Retry {
	var r *lang.Retry
	if s != nil {
		r = s.Retry
	}
	if r == nil {
		r = b.Retry
	}
	if r == nil {
		return graph.Retry{}
	}
	return graph.Retry{Attempts: r.Attempts, Wait: r.Wait}
}

// keepOf returns which workspaces of a backend are kept.
func keepOf(b *lang.Backend) session.Keep {
	if b.Container == nil {
		return session.KeepNever
	}
	return session.Keep(b.Container.Keep)
}

// exclusive returns the resources that tests with these ports need exclusively. A backend enforces that
// anyway, but a node that waits there holds a slot.
func exclusive(ports []int, b backend.Backend) []string {
	if len(ports) == 0 || b.Network() == backend.PrivateNetwork {
		return nil
	}
	names := make([]string, len(ports))
	for i, port := range ports {
		names[i] = "port " + strconv.Itoa(port)
	}
	return names
}
