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
	of := labels(cell, cp)
	node := func(kind string, task graph.Task, deps []graph.Dep) graph.Node {
		return graph.Node{Addr: address(kind, cell.Problem.Name, cp.Name, cell.Name()), Kind: kind, Labels: of, Task: task, Deps: deps, Pool: inProcessPool}
	}
	cc := CellCheckpoint{Checkpoint: cp}
	shared := c.pytestShared(cell, answer, d)
	run := node(KindPytest, shared.run, slices.Concat(c.pytestInputs(cell, answer, shared.tests, d), shared.deps))
	run.Pool, run.Retry, run.Probes, run.Exclusive = cell.Backend.Pool, retryOf(s, cell.Backend), shared.probes, shared.exclusive
	pytestID := c.plan.Graph.Add(run)

	parse := node(KindParse, shared.parse, []graph.Dep{{On: pytestID, As: "pytest", Outputs: pytestOutputs}})
	parse.Kept = true
	cc.Measured = c.plan.Graph.Add(parse)

	aggregate := node(KindAggregate, shared.aggregate, []graph.Dep{{On: cc.Measured, As: "verdicts", Outputs: verdictsOutput}})
	aggregate.Kept = true
	cc.Aggregate = c.plan.Graph.Add(aggregate)
	cc.Own = []graph.ID{pytestID, cc.Measured, cc.Aggregate}
	return cc
}

// Outputs that dependents consume. All edges share these slices.
var (
	treeOutput     = []string{tasks.TreeOutput}
	pytestOutputs  = []string{pytest.OutputExit, pytest.OutputTiming, pytest.OutputStages, pytest.OutputLog}
	verdictsOutput = []string{pytest.OutputVerdicts}
)

// pytestShared holds the data of a checkpoint that solutions with equal commands share.
type pytestShared struct {
	tests             graph.ID
	run               *pytest.Run
	deps              []graph.Dep // edges to files that run reads in place
	probes, exclusive []string
	parse             *pytest.Parse
	aggregate         *tasks.AggregateCheckpoint
}

// pytestKey identifies a pytestShared.
type pytestKey struct {
	checkpoint   *lang.Checkpoint
	backend      *lang.Backend
	repeat       int
	entry, setup string
}

// pytestShared returns the tasks of a checkpoint for all solutions with the commands of an answer.
func (c *compiler) pytestShared(cell *Cell, answer lang.SolutionCheckpoint, d *driver) *pytestShared {
	p, cp := cell.Problem, answer.Checkpoint
	key := pytestKey{cp, cell.Backend, cell.Repeat, answer.Entry, fmt.Sprintf("%q", answer.Setup)}
	if known := c.pytest[key]; known != nil {
		return known
	}
	seen := c.readablePaths(d, cell.Backend, cp.Env, p.Pytest.Requires, slices.Concat(cell.Backend.Setup, answer.Setup, p.Pytest.Args, []string{answer.Entry, cp.Before})...)
	shared := &pytestShared{
		tests: c.tests(p, cp), run: c.pytestRun(cell, answer, d), deps: seen.deps, probes: []string{d.addr, requirementsProbe(p.Pytest.Requires, d)}, exclusive: exclusive(p.Pytest.Ports, d),
		parse: &pytest.Parse{Grouping: c.grouping(p, cp)}, aggregate: &tasks.AggregateCheckpoint{Policy: RuleOf(cp.Pass), OmitSkipped: p.Pytest.OmitSkipped},
	}
	shared.run.VerifyInputs = seen.unchanged
	c.pytest[key] = shared
	return shared
}

// requirementsProbe is the name of the probe for locked requirements.
func requirementsProbe(requires []string, d *driver) string {
	return "requirements " + strings.Join(requires, " ") + "@" + d.addr
}

// pytestInputs returns the dependencies of a run of tests.
func (c *compiler) pytestInputs(cell *Cell, answer lang.SolutionCheckpoint, tests graph.ID, d *driver) []graph.Dep {
	deps := []graph.Dep{
		{On: tests, As: "tests", Outputs: treeOutput},
		{On: c.submission(cell.Solution, answer), As: "submission", Outputs: treeOutput},
	}
	deps = append(deps, d.image...)
	for _, a := range answer.Checkpoint.Assets {
		deps = append(deps, graph.Dep{On: c.materialize(cell.Problem, a), As: "asset " + a.Name, Outputs: treeOutput})
	}
	return deps
}

func (c *compiler) pytestRun(cell *Cell, answer lang.SolutionCheckpoint, d *driver) *pytest.Run {
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
