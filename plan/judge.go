package plan

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/judge"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// judgeOn is the judge on a backend. One of its fields is set.
type judgeOn struct {
	box    *judge.Box
	server *judge.Server
}

// judgeOf returns the judge on a backend, created once.
func (c *compiler) judgeOf(b *lang.Backend) (judgeOn, error) {
	if on, ok := c.judges[b]; ok {
		return on, nil
	}
	h, err := c.open(b, Use{Judge: true})
	if err != nil {
		return judgeOn{}, err
	}
	var on judgeOn
	switch {
	case h.made.Server != nil:
		on.server = &judge.Server{JudgeServer: h.made.Server, Ident: h.identify}
	case h.made.Sandbox != nil:
		on.box = &judge.Box{Sandbox: h.made.Sandbox, Ident: h.identify, Env: judge.Environment()}
	default:
		return on, fmt.Errorf("backend %s: a backend of the kind %q cannot judge problems with a judge block", b.Addr(), b.Kind)
	}
	c.judges[b] = on
	return on, nil
}

// judgeCell adds the nodes of a cell of a judge problem.
func (c *compiler) judgeCell(s *lang.Suite, cell *Cell) error {
	j := judging{compiler: c, suite: s, cell: cell, judge: cell.Problem.Judge}
	var err error
	if j.judgeOn, err = c.judgeOf(cell.Backend); err == nil && j.server == nil {
		j.rules, err = c.env.judgeRules(j.judge.Compat)
	}
	if err != nil {
		return err
	}
	j.answer = cell.Solution.Checkpoints[0]
	switch {
	case cell.Solution.Omits(j.answer):
	case j.answer.Missing:
		cell.Checkpoints = []CellCheckpoint{c.notReached(KindScore, cell, j.answer)}
	default:
		cell.Checkpoints = []CellCheckpoint{j.checkpoint()}
	}
	return nil
}

// judging adds the nodes of one cell.
type judging struct {
	*compiler
	suite  *lang.Suite
	cell   *Cell
	judge  *lang.Judge
	answer lang.SolutionCheckpoint
	rules  judge.Rules // unless a server grades submissions
	judgeOn
}

// node returns a node of the cell that runs in the sandbox.
func (j *judging) node(kind string, task graph.Task, deps []graph.Dep, parts ...string) graph.Node {
	return graph.Node{
		Addr: address(kind, j.cell.Problem.Name, append(parts, j.cell.Name())...), Kind: kind, Labels: labels(j.cell, nil),
		Task: task, Deps: deps, Pool: j.cell.Backend.Pool, Retry: j.retry(), Probes: j.probes(),
	}
}

// probes returns the names of the probes that descriptions need.
func (j *judging) probes() []string { return []string{placeOf(j.cell.Backend)} }

// Sandboxes fail now and then, more often on a busy machine, so broken work is retried unless the
// configuration disables it.
const (
	sandboxAttempts = 3
	sandboxWait     = 200 * time.Millisecond
)

func (j *judging) retry() graph.Retry {
	if r := retryOf(j.suite, j.cell.Backend); r.Attempts > 0 {
		return r
	}
	return graph.Retry{Attempts: sandboxAttempts, Wait: sandboxWait}
}

func (j *judging) checkpoint() CellCheckpoint {
	cc := CellCheckpoint{Checkpoint: j.answer.Checkpoint}
	policy := RuleOf(cc.Checkpoint.Pass)
	var score graph.Node
	if why := j.cell.Solution.Failed; why != "" {
		score = j.node(KindScore, &tasks.NoSubmission{Why: why, Policy: policy}, nil)
	} else if j.server != nil {
		score = j.addSubmission(&cc, policy)
	} else {
		score = j.addScore(&cc, policy)
	}
	score.Pool, score.Kept = inProcessPool, true
	cc.Aggregate = j.plan.Graph.Add(score)
	cc.Measured = cc.Aggregate
	cc.Own = append(cc.Own, cc.Aggregate)
	return cc
}

// addScore adds the nodes of every case and returns the node that computes the score.
func (j *judging) addScore(cc *CellCheckpoint, policy verdict.Rule) graph.Node {
	program, tool := j.compile(), j.tool()
	task := &judge.Score{Weights: j.judge.Weights, Policy: policy}
	deps := []graph.Dep{{On: program, As: judge.FromSolution, Outputs: []string{judge.OutputDiagnosis}}}
	for _, s := range j.judge.Subtasks {
		sub := judge.Subtask{Score: s.Score}
		for i := range s.Cases {
			one := &s.Cases[i]
			made := j.oneCase(one, program, tool)
			cc.Own = append(cc.Own, made.nodes...)
			cc.Cases = append(cc.Cases, CaseNode{Name: j.caseName(one), Verdict: made.verdict})
			sub.Cases = append(sub.Cases, j.caseName(one))
			deps = append(deps,
				graph.Dep{On: made.verdict, As: "verdict " + one.Name, Outputs: []string{judge.OutputVerdict}},
				graph.Dep{On: made.measure, As: "measure " + one.Name, Outputs: []string{judge.OutputMeasure}})
		}
		task.Subtasks = append(task.Subtasks, sub)
	}
	return j.node(KindScore, task, deps)
}

func (j *judging) caseName(c *lang.Case) judge.CaseName {
	file := c.Input
	if rel, err := filepath.Rel(j.judge.Root, file); err == nil && j.judge.TestDataFrom == nil {
		file = filepath.ToSlash(rel)
	}
	return judge.CaseName{Name: c.Name, File: file}
}

// caseNodes are the nodes of a case of the cell.
type caseNodes struct {
	nodes            []graph.ID
	verdict, measure graph.ID
}

func (j *judging) oneCase(one *lang.Case, program, tool graph.ID) caseNodes {
	data := j.testData(one)
	language, filename := j.language()
	limits := backend.Limits{
		CPU: one.Time, Clock: one.Clock, Memory: one.Memory, Stack: one.Memory, AddressSpace: true,
		Processes: j.judge.Processes, Stdout: j.judge.Output, Stderr: j.judge.Output,
	}
	limits.Stderr = min(limits.Stderr, 1<<20)
	fromData := graph.Dep{On: data, As: judge.FromTestData, Outputs: []string{judge.OutputIn, judge.OutputAns}}
	fromProgram := graph.Dep{On: program, As: judge.FromSolution, Outputs: []string{judge.OutputProgram}}
	fromTool := graph.Dep{On: tool, As: judge.FromTool, Outputs: []string{judge.OutputProgram}}
	onCase := func(n graph.Node) graph.ID {
		n.Labels = append(n.Labels, graph.Label{Name: "case", Value: one.Name})
		return j.plan.Graph.Add(n)
	}
	if j.judge.Mode == lang.ModeInteractive {
		limits.AddressSpace = false
		task := &judge.Interact{Language: language, Filename: filename, Rules: j.rules, Limits: limits,
			InteractorLimits: j.toolLimits(judge.InteractorLimits(limits)), Repeat: j.cell.Repeat, Box: j.box}
		n := j.node(KindInteract, task, []graph.Dep{fromData, fromProgram, fromTool}, one.Name)
		n.Kept = true
		id := onCase(n)
		return caseNodes{nodes: []graph.ID{id}, verdict: id, measure: id}
	}
	fromData.Outputs = []string{judge.OutputIn}
	run := j.node(KindRun, &judge.Run{Language: language, Filename: filename, Limits: limits, Repeat: j.cell.Repeat, Box: j.box},
		[]graph.Dep{fromData, fromProgram}, one.Name)
	ran := onCase(run)
	fromData.Outputs = []string{judge.OutputIn, judge.OutputAns}
	fromRun := graph.Dep{On: ran, As: judge.FromRun, Outputs: []string{judge.OutputExit, judge.OutputStdout}}
	if j.rules.Dialect != nil {
		fromRun.Outputs = append(fromRun.Outputs, graph.LogOutput)
	}
	check := j.node(KindCheck, &judge.Check{Rules: j.rules, Limits: j.toolLimits(judge.CheckerLimits(checkerTime, checkerMemory)), Box: j.box},
		[]graph.Dep{fromRun, fromData, fromTool}, one.Name)
	check.Kept = true
	checked := onCase(check)
	return caseNodes{nodes: []graph.ID{ran, checked}, verdict: checked, measure: ran}
}

const (
	checkerTime   = 10 * time.Second
	checkerMemory = 256 << 20
)

// toolLimits returns the limits of a checker or interactor, with the problem's settings.
func (j *judging) toolLimits(l backend.Limits) backend.Limits {
	if t := j.judge.CheckerTime; t > 0 {
		l.CPU = t
		if l.Clock = max(l.Clock, 2*t); j.judge.Mode != lang.ModeInteractive {
			l.Clock = 2 * t // an interactor must outlive the solution to report which one hung
		}
	}
	if m := j.judge.CheckerMemory; m > 0 {
		l.Memory = m
	}
	return l
}

func (j *judging) language() (judge.Language, string) {
	language := judge.CPP
	source := j.answer.Source
	if from := j.answer.From; from != nil {
		source = from.Output().Path
	}
	if j.judge.LanguageOf(source) == lang.LanguagePython {
		language = judge.Python
	}
	if j.judge.Filename != "" {
		return language, j.judge.Filename
	}
	return language, language.Filename
}

// testData adds the node with the files of a case, shared by every solution.
func (j *judging) testData(one *lang.Case) graph.ID {
	p := j.cell.Problem
	addr := address(KindTestData, p.Name, one.Name)
	var in fileSet
	in.file(judge.OutputIn, one.Input, j.data())
	if one.Output != "" {
		in.file(judge.OutputAns, one.Output, j.data())
	}
	return j.addOnce(graph.Node{
		Addr: addr, Kind: KindTestData,
		Labels: append(problemLabels(p, ""), graph.Label{Name: "case", Value: one.Name}),
		Task:   judge.NewTestData(in.of(j.sourcesOf(addr)), one.Output != ""), Deps: in.deps, Pool: inProcessPool,
	})
}

// compile adds the node that compiles the solution, shared by repeats.
func (j *judging) compile() graph.ID {
	language, filename := j.language()
	addr := address(KindCompile, j.cell.Problem.Name, j.cell.Solution.Name+"@"+j.cell.Backend.Addr())
	code := j.code(filename)
	n := j.node(KindCompile, usableTask(j.answer, &judge.Compile{
		Language: language, Filename: filename, Flags: j.judge.Flags, Limits: judge.CompileLimits(j.judge.CompileTime, j.judge.CompileMemory), Box: j.box,
		Source: code.of(j.submissionSources(addr, j.cell.Solution)),
	}), code.deps)
	n.Addr = addr
	n.Labels = append(problemLabels(j.cell.Problem, ""),
		graph.Label{Name: "solution", Value: j.cell.Solution.Name}, graph.Label{Name: "backend", Value: j.cell.Backend.Addr()})
	return j.addOnce(n)
}

// tool adds the node that compiles the checker or interactor, shared by every
// solution.
func (j *judging) tool() graph.ID {
	kind, p := KindChecker, j.cell.Problem
	if j.judge.Mode == lang.ModeInteractive {
		kind = KindInteractor
	}
	addr := kind + ":" + p.Name + "@" + j.cell.Backend.Addr()
	in := j.checkerFiles("", judge.ToolFile(kind))
	return j.addOnce(graph.Node{
		Addr: addr, Kind: kind,
		Labels: append(problemLabels(p, ""), graph.Label{Name: "backend", Value: j.cell.Backend.Addr()}),
		Task: &judge.Tool{Name: kind, Flags: j.judge.CheckerFlags,
			Limits: judge.CompileLimits(j.judge.CompileTime, j.judge.CompileMemory), Box: j.box, Source: in.of(j.sourcesOf(addr))},
		Deps: in.deps, Pool: j.cell.Backend.Pool, Retry: j.retry(), Probes: j.probes(),
	})
}
