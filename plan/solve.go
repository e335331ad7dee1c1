package plan

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/command"
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/tasks/verifier"
)

// answerNodes adds the nodes of the answer that a verifier judges, and returns the last.
func (c *compiler) answerNodes(s *lang.Suite, cell *Cell, answer lang.SolutionCheckpoint) (graph.ID, error) {
	if cell.Solution.Solver == nil || answer.Unusable != "" {
		return c.submission(cell.Solution, answer), nil
	}
	at := slices.IndexFunc(cell.Solution.Checkpoints, func(other lang.SolutionCheckpoint) bool { return other.Checkpoint == answer.Checkpoint })
	on, err := c.solve(s, cell)
	if err != nil {
		return 0, err
	}
	output := command.Answer(at)
	name := cell.Solution.Name
	return c.addOnce(graph.Node{
		Addr: address(KindSubmission, cell.Problem.Name, answer.Checkpoint.Name, name), Kind: KindSubmission,
		Labels: append(problemLabels(cell.Problem, answer.Checkpoint.Name), graph.Label{Name: "solution", Value: name}), Pool: inProcessPool,
		Task: &tasks.Place{Output: output, Ignore: absolute(cell.Problem, excludedPatterns(cell.Problem)), Syntax: "doublestar"},
		Deps: []graph.Dep{{On: on, As: tasks.From, Outputs: []string{output}}},
	}), nil
}

// absolute returns patterns, relative to a solution's source, for a tree that mirrors absolute paths.
func absolute(p *lang.Problem, patterns []string) []string {
	if p.Solution() == "/" {
		return patterns
	}
	var all []string
	for _, pattern := range patterns {
		all = append(all, lang.EscapeGlob(strings.TrimPrefix(p.Solution(), "/"))+"/"+pattern)
	}
	return all
}

// solve adds the node that produces the answers of a cell's solution in the container of agents.
func (c *compiler) solve(s *lang.Suite, cell *Cell) (graph.ID, error) {
	p, solver := cell.Problem, cell.Solution.Solver
	addr := address(KindSolve, p.Name, cell.Solution.Name)
	if id, ok := c.plan.Graph.Lookup(addr); ok { // added for another checkpoint or repeat
		return id, nil
	}
	d, err := c.verifierDriver(p, cell.Backend, solver.In)
	if err != nil {
		return 0, err
	}
	d.handle.Use.Bare = true
	task := &command.Solve{
		Workdir: solver.In.Workdir, GPU: solver.In.GPU, Env: session.Environment(d.environ(solver.In.Env)), Backend: d.Backend, Keep: keepOf(cell.Backend),
	}
	var inherited session.Environment
	inherited, task.Inherited, task.Lacks = c.inheritedVariables(solver.In, "the environment of agents")
	task.Env = append(task.Env, inherited...)
	n := graph.Node{Addr: addr, Kind: KindSolve, Task: task, Pool: cell.Backend.Pool, Retry: retryOf(s, cell.Backend), Probes: []string{d.addr},
		Labels: append(problemLabels(p, ""), graph.Label{Name: "solution", Value: cell.Solution.Name}, graph.Label{Name: "backend", Value: cell.Backend.Addr()})}
	for _, suite := range cell.Suites { // a call that judges the suite again also produces its answers again
		n.Labels = append(n.Labels, graph.Label{Name: "suite", Value: suite})
	}
	for i, step := range solver.Steps {
		made := command.SolveStep{Script: step.Script, Timeout: step.Timeout}
		for _, a := range cell.Solution.Checkpoints[i].Checkpoint.Verifier.Artifacts {
			made.Artifacts = append(made.Artifacts, a.Path)
		}
		// What is declared can contain the directory, or be in it.
		const collected = verifier.ArtifactsPlace
		if !slices.ContainsFunc(made.Artifacts, func(name string) bool { return subpath.Contains(name, collected) || subpath.Contains(collected, name) }) {
			made.Artifacts = append(made.Artifacts, collected)
		}
		for _, after := range step.After {
			made.After = append(made.After, command.SolveCommand(after))
		}
		add := func(what, dir string, leaveOut []string) string {
			if dir == "" {
				return ""
			}
			as := fmt.Sprintf("%s %d", what, i+1)
			n.Deps = append(n.Deps, graph.Dep{On: c.solverFiles(p, dir, leaveOut), As: as, Outputs: treeOutput})
			return as
		}
		made.Workdir, made.Files = add("workdir", step.Workdir, nil), add("solution", step.Directory, step.LeaveOut)
		task.Steps = append(task.Steps, made)
	}
	seen := c.readablePaths(d, cell.Backend, solver.In.Env, nil)
	task.VerifyInputs = seen.unchanged
	task.Identity = d.identity(d.handle.bare, "bash")
	n.Deps = slices.Concat(n.Deps, d.image, seen.deps)
	return c.plan.Graph.Add(n), nil
}

// solverFiles adds the node of a directory that a problem's solver needs.
func (c *compiler) solverFiles(p *lang.Problem, dir string, leaveOut []string) graph.ID {
	name, err := filepath.Rel(p.ReadFrom, dir)
	if err != nil {
		name = dir
	}
	addr := address(KindMaterialize, p.Name, strings.Split(filepath.ToSlash(name), "/")...)
	return c.addOnce(graph.Node{
		Addr: addr, Kind: KindMaterialize, Labels: problemLabels(p, ""), Pool: inProcessPool,
		Task: tasks.NewMaterialize(tasks.Asset{Source: dir, Target: ".", Ignore: notTests(leaveOut, dir)}, c.sourcesOf(addr)),
	})
}
