package plan

import (
	"path"
	"slices"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/command"
	"github.com/fevalgraph/fevalgraph/tasks/command/score"
	"github.com/fevalgraph/fevalgraph/tasks/separate"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// commandCell adds the nodes of a cell of a command problem.
func (c *compiler) commandCell(s *lang.Suite, cell *Cell) error {
	d, err := c.commandDriver(cell.Problem, cell.Backend)
	if err == nil && cell.Problem.Command.UVSource != "" {
		err = d.needsPython()
	}
	if err != nil {
		return err
	}
	rule, err := c.scoreRule(cell.Problem.Command.Score)
	if err != nil {
		return err
	}
	answer := cell.Solution.Checkpoints[0]
	switch {
	case cell.Solution.Omits(answer):
	case answer.Missing:
		cell.Checkpoints = []CellCheckpoint{c.notReached(KindScore, cell, answer)}
	default:
		cell.Checkpoints = []CellCheckpoint{c.commandCheckpoint(s, cell, answer, rule, d)}
	}
	return nil
}

func (c *compiler) commandCheckpoint(s *lang.Suite, cell *Cell, answer lang.SolutionCheckpoint, rule score.Rule, d *driver) CellCheckpoint {
	cc := CellCheckpoint{Checkpoint: answer.Checkpoint}
	node := func(kind string, task graph.Task, deps []graph.Dep) graph.Node {
		return graph.Node{Addr: address(kind, cell.Problem.Name, cell.Name()), Kind: kind, Labels: labels(cell, nil), Task: task, Deps: deps, Pool: inProcessPool}
	}
	policy := RuleOf(answer.Checkpoint.Pass)
	var graded graph.Node
	if why := cell.Solution.Failed; why != "" {
		graded = node(KindScore, &tasks.NoSubmission{Why: why, Policy: policy}, nil)
	} else {
		inputs := c.commandInputs(cell, answer)
		p := cell.Problem.Command
		seen := c.readablePaths(d, cell.Backend, p.Env, nil, slices.Concat(cell.Backend.Setup, p.Setup, p.Argv)...)
		task, needs := c.commandRun(cell, inputs, rule, d), slices.Concat(inputs, d.image, seen.deps)
		task.VerifyInputs = seen.unchanged
		if cell.Problem.Command.UVSource != "" {
			needs = append(needs, c.uv(s, cell, d, task))
		}
		run := node(KindCommand, task, needs)
		run.Pool, run.Retry, run.Probes = cell.Backend.Pool, retryOf(s, cell.Backend), []string{d.addr}
		id := c.plan.Graph.Add(run)
		cc.Own = append(cc.Own, id)
		graded = node(KindScore, &command.Score{Rule: rule, Policy: policy},
			[]graph.Dep{{On: id, As: command.From, Outputs: command.Outputs()}})
	}
	graded.Kept = true
	cc.Aggregate = c.plan.Graph.Add(graded)
	cc.Measured = cc.Aggregate
	cc.Own = append(cc.Own, cc.Aggregate)
	return cc
}

// ownInput is the directory of the solution's files in a workspace.
const ownInput = "submission"

// commandInputs returns the trees of a workspace, in order of precedence.
func (c *compiler) commandInputs(cell *Cell, answer lang.SolutionCheckpoint) []graph.Dep {
	p := cell.Problem
	tree := func(id graph.ID, as string) graph.Dep {
		return graph.Dep{On: id, As: as, Outputs: treeOutput}
	}
	deps := []graph.Dep{tree(c.workspace(p), "root")}
	for _, a := range answer.Checkpoint.Assets {
		deps = append(deps, tree(c.materialize(p, a), "asset "+a.Name))
	}
	return append(deps, tree(c.submission(cell.Solution, answer), ownInput))
}

// workspace adds the node with a command problem's own files.
func (c *compiler) workspace(p *lang.Problem) graph.ID {
	addr := address(KindWorkspace, p.Name)
	return c.addOnce(graph.Node{
		Addr: addr, Kind: KindWorkspace, Labels: problemLabels(p, ""),
		Task: tasks.NewMaterialize(tasks.Asset{Source: p.Command.Root, Target: p.Command.Directory, Ignore: p.Command.Ignore}, c.sourcesOf(addr)),
		Pool: inProcessPool,
	})
}

func (c *compiler) commandRun(cell *Cell, inputs []graph.Dep, rule score.Rule, d *driver) *command.Run {
	p := cell.Problem.Command
	d.handle.Use.Bare = true
	run := &command.Run{
		Directory: p.Directory, SetupTimeout: cell.Backend.SetupTimeout, OwnSetup: len(p.Setup) > 0,
		Argv: p.Argv, Timeout: p.Timeout, Offline: p.Offline, GPU: p.GPU,
		Env: session.Environment(d.environ(p.Env)), Repeat: cell.Repeat, Rule: rule,
		Backend: d.Backend, Keep: keepOf(cell.Backend), Own: ownInput, Machine: c.machine,
		Direct: p.Import == lang.ImportDirect, Module: p.Solution, Search: c.imports,
	}
	if p.Import == lang.ImportSeparate {
		run.Separate = &separate.Modules{Reads: p.ImportReads, Programs: p.Confined}
	}
	for _, in := range inputs {
		run.Inputs = append(run.Inputs, in.As)
	}
	for _, line := range cell.Backend.Setup {
		run.Setup = append(run.Setup, session.Step{Line: line, Directory: "."})
	}
	for _, line := range p.Setup {
		run.Setup = append(run.Setup, session.Step{Line: line, Directory: p.Directory})
	}
	if p.Score.From == lang.ScoreFromFile {
		run.File = path.Join(p.Directory, p.Score.File)
	}
	lines := slices.Concat(cell.Backend.Setup, p.Setup, p.Argv)
	ask := d.handle.bare
	if p.UVSource != "" {
		ask = d.handle.identify
		for i := range lines {
			lines[i] = withoutPython(lines[i])
		}
	}
	run.Identity = d.identity(ask, lines...)
	return run
}

func (c *compiler) scoreRule(r lang.ScoreRule) (score.Rule, error) {
	dialect, err := c.env.scoreDialect(r.Compat)
	return score.Rule{
		From: r.From, Pattern: r.Pattern, Marker: r.Marker, Pointer: r.Pointer, PointerUnbounded: r.PointerUnbounded,
		Dialect: dialect, Compat: r.Compat, AnyExit: r.AnyExit,
	}, err
}

// uv adds the Python environment of a uv project to a run, and returns the edge to the node that
// determines its content. Problems that take the same files of one directory share it.
func (c *compiler) uv(s *lang.Suite, cell *Cell, d *driver, run *command.Run) graph.Dep {
	p, interpreter := cell.Problem.Command, d.Capabilities().Python.Interpreter
	d.handle.Use.Python = true
	place := escape(c.plan.Config.Relative(p.UVSource), "@ ")
	if without := p.Ignoring(); without != "" {
		place += " without " + without
	}
	addr := KindWorkspace + ":uv/" + place
	project := c.addOnce(graph.Node{
		Addr: addr, Kind: KindWorkspace,
		Task: tasks.NewMaterialize(tasks.Asset{Source: p.UVSource, Target: ".", Ignore: p.Ignore}, c.sourcesOf(addr)), Pool: inProcessPool,
	})
	addr = KindEnvironment + ":" + place + "@" + d.addr
	if p.UVOverrides != "" {
		addr += " " + p.UVOverrides
	}
	known := c.addOnce(graph.Node{
		Addr: addr, Kind: KindEnvironment, Labels: []graph.Label{{Name: "backend", Value: cell.Backend.Addr()}},
		Task: &command.Environment{
			Overrides: p.UVOverrides, Env: session.Environment(d.environ(nil)), Backend: d.Backend, Identity: d.handle.identify, Python: interpreter, Machine: c.machine,
		},
		Deps: append([]graph.Dep{{On: project, As: command.FromProject, Outputs: treeOutput}}, d.image...),
		Pool: cell.Backend.Pool, Retry: retryOf(s, cell.Backend), Probes: []string{d.addr},
	})
	run.UV = &command.UV{Project: p.UVProject, Python: interpreter, Environments: c.virtual}
	if c.env.Environments != nil {
		run.UV.Shared = c.env.Environments(cell.Backend)
	}
	return graph.Dep{On: known, As: command.FromEnvironment, Outputs: []string{command.OutputPins, command.OutputInside}}
}
