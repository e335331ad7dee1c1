package plan

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
	"github.com/fevalgraph/fevalgraph/tasks/session"
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

// checkpoints adds the nodes of each checkpoint of a cell, and of the cell. A checkpoint that the solution
// does not answer gets a node of kind that reports it as not reached.
func (c *compiler) checkpoints(cell *Cell, kind string, add func(lang.SolutionCheckpoint) (CellCheckpoint, error)) error {
	count := len(cell.Solution.Checkpoints)
	deps, names := make([]graph.Dep, 0, count), make([]string, 0, count)
	cell.Checkpoints = make([]CellCheckpoint, 0, count)
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
		names = append(names, answer.Checkpoint.Name)
		deps = append(deps, graph.Dep{On: cc.Aggregate, As: answer.Checkpoint.Name, Outputs: resultOutput})
	}
	c.addCell(cell, names, deps)
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

// addScored adds the only checkpoint of a cell of a problem that gives scores.
func (c *compiler) addScored(cell *Cell, cc CellCheckpoint) {
	cell.Checkpoints = append(cell.Checkpoints, cc)
	name := cc.Checkpoint.Name
	c.addCell(cell, []string{name}, []graph.Dep{{On: cc.Aggregate, As: name, Outputs: []string{tasks.ResultOutput}}})
}

// addCell adds the node that sums up a cell.
func (c *compiler) addCell(cell *Cell, checkpoints []string, deps []graph.Dep) {
	for i := range cell.Checkpoints {
		cc := &cell.Checkpoints[i]
		cc.Figures = c.figures(cell, cc.Checkpoint)
		for _, id := range cc.Figures { // needed, but never read
			deps = append(deps, graph.Dep{On: id, As: c.plan.Graph.Node(id).Addr})
		}
	}
	cell.Node = c.plan.Graph.Add(graph.Node{
		Addr: address(KindAggregate, cell.Problem.Name, cell.Name()), Kind: KindAggregate,
		Labels: labels(cell, nil), Task: &tasks.AggregateCell{Checkpoints: checkpoints}, Deps: deps, Tolerant: true, Pool: inProcessPool,
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
		run.Pool, run.Scheduling = cell.Backend.Pool, &graph.Scheduling{Retry: retryOf(s, cell.Backend), Probes: runs.probes, Exclusive: runs.exclusive}
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

// submission adds the node with a solution's code for a checkpoint, shared by
// backends and repeats.
func (c *compiler) submission(s *lang.Solution, answer lang.SolutionCheckpoint) graph.ID {
	addr := address(KindSubmission, s.Problem.Name, answer.Checkpoint.Name, s.Name)
	labels := append(problemLabels(s.Problem, answer.Checkpoint.Name), graph.Label{Name: "solution", Value: s.Name})
	if answer.From != nil {
		sub := submissionOf(s, "")
		return c.place(addr, KindSubmission, labels, answer.From, tasks.Place{Target: sub.Target, Ignore: s.Ignore, Syntax: s.IgnoreSyntax, Plain: sub.Plain})
	}
	return c.addOnce(graph.Node{
		Addr: addr, Kind: KindSubmission, Labels: labels,
		Task: usableTask(answer, submissionTask(s, answer, c.submissionSources(addr, s))), Pool: inProcessPool,
	})
}

// submissionTask returns the task that reads the answer to a checkpoint.
func submissionTask(s *lang.Solution, answer lang.SolutionCheckpoint, sources tasks.Sources) graph.Task {
	if answer.Parts == nil {
		return tasks.NewSubmission(submissionOf(s, answer.Source), sources)
	}
	var parts []tasks.Submission
	for _, part := range answer.Parts {
		parts = append(parts, tasks.Submission{Source: part.Source, Target: part.Target, Ignore: ignorePatterns(s), Plain: s.Files == "plain"})
	}
	return tasks.NewParts(parts, sources)
}

// ignorePatterns returns the files that a solution leaves out of its sources.
func ignorePatterns(s *lang.Solution) tasks.Ignore {
	if s.IgnoreSyntax == "fnmatch" {
		return tasks.Fnmatch(s.Ignore)
	}
	return tasks.Doublestar(s.Ignore)
}

func submissionOf(s *lang.Solution, source string) tasks.Submission {
	sub := tasks.Submission{Source: source, Ignore: ignorePatterns(s), Plain: s.Files == "plain"}
	switch {
	case s.Problem.Command != nil:
		sub.Target = s.Problem.Command.Solution
	case s.Problem.Verified:
		sub.Target = strings.TrimPrefix(s.Problem.Solution(), "/")
		if without := excludedPatterns(s.Problem); len(without) > 0 {
			sub.Ignore = tasks.Either(sub.Ignore, tasks.Doublestar(without))
		}
	}
	return sub
}

// materialize adds the node of an asset, shared by the checkpoints that have it.
func (c *compiler) materialize(p *lang.Problem, a lang.Asset) graph.ID {
	addr, labels := address(KindMaterialize, p.Name, a.Owner, a.Name), problemLabels(p, a.Owner)
	if a.From != nil {
		return c.place(addr, KindMaterialize, labels, a.From, tasks.Place{Target: a.Target, Ignore: a.Ignore, Shared: true})
	}
	return c.addOnce(graph.Node{
		Addr: addr, Kind: KindMaterialize, Labels: labels, Task: tasks.NewMaterialize(assetOf(a), c.sourcesOf(addr)), Pool: inProcessPool,
	})
}

func assetOf(a lang.Asset) tasks.Asset {
	return tasks.Asset{Source: a.Source, Glob: a.IsGlob, Target: a.Target, Ignore: a.Ignore, Mode: a.Mode, SHA256: a.SHA256}
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
