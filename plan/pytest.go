package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// pytestCell adds the nodes of a cell of a pytest problem.
func (c *compiler) pytestCell(s *lang.Suite, cell *Cell) error {
	d, err := c.driver(cell.Backend)
	if err == nil {
		err = d.needsPython()
	}
	if err != nil {
		return err
	}
	return c.checkpoints(cell, KindAggregate, func(answer lang.SolutionCheckpoint) (CellCheckpoint, error) {
		return c.pytestCheckpoint(s, cell, answer, d), nil
	})
}

func (c *compiler) pytestCheckpoint(s *lang.Suite, cell *Cell, answer lang.SolutionCheckpoint, d *driver) CellCheckpoint {
	cp := answer.Checkpoint
	shared := labels(cell, cp)
	node := func(kind string, task graph.Task, deps []graph.Dep) graph.Node {
		return graph.Node{Addr: address(kind, cell.Problem.Name, cp.Name, cell.Name()), Kind: kind, Labels: shared, Task: task, Deps: deps, Pool: inProcessPool}
	}
	cc := CellCheckpoint{Checkpoint: cp}
	runs := c.pytestRuns(cell, answer, d)
	var left []graph.Dep // left by the runs
	for i, part := range runs.parts {
		run := node(KindPytest, runs.tasks[i], slices.Concat(c.pytestInputs(cell, answer, part, d), runs.deps))
		run.Pool, run.Retry, run.Probes, run.Exclusive = cell.Backend.Pool, retryOf(s, cell.Backend), runs.probes, runs.exclusive
		as := "pytest"
		if part.file != "" {
			run.Addr += "/" + part.file
			run.Labels = slices.Concat(shared, []graph.Label{{Name: "file", Value: part.file}})
		}
		if len(runs.parts) > 1 {
			as += " " + part.file
		}
		id := c.plan.Graph.Add(run)
		cc.Pytest = append(cc.Pytest, id)
		left = append(left, graph.Dep{On: id, As: as, Outputs: pytestOutputs})
	}
	parse := node(KindParse, runs.parse, left)
	parse.Kept = true
	cc.Measured = c.plan.Graph.Add(parse)

	aggregate := node(KindAggregate, runs.aggregate, []graph.Dep{{On: cc.Measured, As: "verdicts", Outputs: verdictsOutput}})
	aggregate.Kept = true
	cc.Aggregate = c.plan.Graph.Add(aggregate)
	cc.Own = append(slices.Clone(cc.Pytest), cc.Measured, cc.Aggregate)
	return cc
}

// Outputs that dependents consume. All edges share these slices.
var (
	treeOutput     = []string{tasks.TreeOutput}
	pytestOutputs  = []string{pytest.OutputExit, pytest.OutputTiming, pytest.OutputReport, pytest.OutputCTRF, pytest.OutputLog}
	verdictsOutput = []string{pytest.OutputVerdicts}
)

// pytestRuns holds the data of a checkpoint that solutions with equal commands share.
type pytestRuns struct {
	parts             []part
	tasks             []*pytest.Run // parallel to parts
	deps              []graph.Dep   // edges to files that the tasks read in place
	probes, exclusive []string
	parse             *pytest.Parse
	aggregate         *tasks.AggregateCheckpoint
}

// runsKey identifies pytestRuns.
type runsKey struct {
	checkpoint   *lang.Checkpoint
	backend      *lang.Backend
	repeat       int
	entry, setup string
}

// pytestRuns returns the tasks of a checkpoint for all solutions with the commands of an answer.
func (c *compiler) pytestRuns(cell *Cell, answer lang.SolutionCheckpoint, d *driver) *pytestRuns {
	p, cp := cell.Problem, answer.Checkpoint
	key := runsKey{cp, cell.Backend, cell.Repeat, answer.Entry, fmt.Sprintf("%q", answer.Setup)}
	if known := c.runs[key]; known != nil {
		return known
	}
	seen := c.readablePaths(d, cell.Backend, cp.Env, p.Pytest.Requires, slices.Concat(cell.Backend.Setup, answer.Setup, p.Pytest.Args, []string{answer.Entry, cp.Before})...)
	runs := &pytestRuns{
		parts: c.parts(p, cp), deps: seen.deps, probes: []string{d.addr, requirementsProbe(p.Pytest.Requires, d)}, exclusive: exclusive(p.Pytest.Ports, d),
		parse: &pytest.Parse{Grouping: c.grouping(p, cp)}, aggregate: &tasks.AggregateCheckpoint{Policy: RuleOf(cp.Pass), OmitSkipped: p.Pytest.OmitSkipped},
	}
	for _, part := range runs.parts {
		task := c.pytestRun(cell, answer, d, part)
		task.VerifyInputs = seen.unchanged
		runs.tasks = append(runs.tasks, task)
		if len(runs.parts) > 1 {
			runs.parse.Parts = append(runs.parse.Parts, part.file)
			runs.parse.Directory = p.Pytest.Directory
		}
	}
	c.runs[key] = runs
	return runs
}

// requirementsProbe is the name of the probe for locked requirements.
func requirementsProbe(requires []string, d *driver) string {
	return "requirements " + strings.Join(requires, " ") + "@" + d.addr
}

// pytestInputs returns the dependencies of a run of tests.
func (c *compiler) pytestInputs(cell *Cell, answer lang.SolutionCheckpoint, part part, d *driver) []graph.Dep {
	deps := []graph.Dep{
		{On: part.tests, As: "tests", Outputs: treeOutput},
		{On: c.submission(cell.Solution, answer), As: "submission", Outputs: treeOutput},
	}
	deps = append(deps, d.image...)
	for _, a := range answer.Checkpoint.Assets {
		deps = append(deps, graph.Dep{On: c.materialize(cell.Problem, a), As: "asset " + a.Name, Outputs: treeOutput})
	}
	return deps
}

func (c *compiler) pytestRun(cell *Cell, answer lang.SolutionCheckpoint, d *driver, part part) *pytest.Run {
	cp, driver := answer.Checkpoint, cell.Problem.Pytest
	d.handle.Use.Python = true
	d.handle.Use.Network = d.handle.Use.Network || len(driver.Ports) > 0
	setup := slices.Concat(cell.Backend.Setup, answer.Setup)
	requires := append(slices.Clone(pytest.DefaultRequirements), driver.Requires...)
	run := &pytest.Run{
		Checkpoint: cp.Name, Directory: driver.Directory,
		Pins:  func(ctx context.Context) ([]string, error) { return c.env.Pins(ctx, d.Backend, d.handle.env, requires) },
		Entry: answer.Entry, Args: driver.Args, Plugins: driver.Plugins, Ports: driver.Ports,
		Timeout: cp.Timeout, SessionTimeout: cp.SessionTimeout, Before: cp.Before,
		Env: d.environ(cp.Env), Setup: setup, SetupTimeout: cell.Backend.SetupTimeout,
		Repeat: cell.Repeat, Backend: d, Keep: keepOf(cell.Backend), Environment: c.prepared, Machine: c.machine, Search: c.imports,
		Direct:   driver.Import == lang.ImportDirect,
		Plain:    driver.Plain,
		Identity: d.identity(d.handle.identify, append(setup, withoutPython(answer.Entry), withoutPython(cp.Before))...),
	}
	if c.env.Environments != nil {
		run.Shared = c.env.Environments(cell.Backend)
	}
	if driver.Import == lang.ImportSeparate {
		run.Separate = pytest.Separate(driver.Directory, driver.ImportReads, driver.Confined)
	}
	for _, m := range cp.Markers {
		run.Markers = append(run.Markers, pytest.Marker{Name: m.Name, Description: m.Description})
	}
	for _, a := range cp.Assets {
		run.Assets = append(run.Assets, pytest.Asset{Name: a.Name, Target: a.Target})
	}
	if part.alone {
		run.File = part.file
	}
	run.RelativeAssets = driver.AssetPaths == "relative"
	return run
}

// grouping returns the grouping of a checkpoint, shared by the solutions.
func (c *compiler) grouping(p *lang.Problem, cp *lang.Checkpoint) pytest.Grouping {
	g, known := c.groupings[cp]
	if known {
		return g
	}
	g = pytest.Grouping{Checkpoint: cp.Name, Files: map[string]string{}, Custom: map[string]verdict.Group{}}
	for _, other := range p.Checkpoints {
		for _, file := range other.Tests {
			g.Files[file] = other.Name
		}
	}
	for _, m := range cp.Markers {
		if m.Group != "" {
			g.Custom[m.Name] = verdict.Group(m.Group)
		}
	}
	c.groupings[cp] = g
	return g
}
