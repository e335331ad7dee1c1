package plan

import (
	"context"
	"iter"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/command"
	"github.com/fevalgraph/fevalgraph/tasks/judge"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
	"github.com/fevalgraph/fevalgraph/tasks/separate"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// The kinds of nodes.
const (
	KindMaterialize = "materialize"
	KindTests       = "tests"
	KindSubmission  = "submission"
	KindContext     = "context" // of an image's build
	KindImage       = "image"
	KindMount       = "mount" // content of a mount of a backend
	KindPytest      = "pytest"
	KindParse       = "parse"
	KindAggregate   = "aggregate"
	KindProblem     = "problem" // of an invalid problem: reports its errors

	KindTestData   = "testdata"   // the files of a case
	KindChecker    = "checker"    // compiles a problem's checker
	KindInteractor = "interactor" // compiles a problem's interactor
	KindCompile    = "compile"    // compiles a solution
	KindRun        = "run"        // runs a solution on a case
	KindCheck      = "check"      // runs a checker on a case
	KindInteract   = "interact"   // runs a solution and an interactor together
	KindSubmit     = "submit"     // submits a solution to a judge server, which does the rest
	KindScore      = "score"      // computes a solution's verdict

	KindWorkspace = "workspace" // the files of a command problem
	KindCommand   = "command"   // runs its program on a solution

	KindVerify = "verify" // runs the script of a verifier on a solution
	KindSolve  = "solve"  // produces a reference solution in the container of agents

	KindEnvironment = "environment" // requirements of a uv project, on a backend

	KindInput   = "input"   // files for a task block's command, except solutions
	KindTask    = "task"    // runs that command
	KindFigures = "figures" // metrics of a task about a checkpoint of a solution
)

// Kinds are the kinds of nodes.
var Kinds = []string{KindMaterialize, KindTests, KindSubmission, KindContext, KindImage, KindMount, KindPytest, KindParse, KindAggregate, KindProblem,
	KindTestData, KindChecker, KindInteractor, KindCompile, KindRun, KindCheck, KindInteract, KindSubmit, KindScore, KindWorkspace, KindCommand, KindEnvironment, KindVerify, KindSolve, KindInput, KindTask, KindFigures}

// Axes are the axes of selectors.
var Axes = []string{"problem", "checkpoint", "solution", "backend", "suite", "tag", "kind", "case", "repeat", "task", "verdict", "state"}

// Store stores the blobs of the compiled graph.
type Store interface {
	cache.Store
	tasks.FilePutter
}

// Environment contains the dependencies of compiling.
type Environment struct {
	Store  Store
	States tasks.FileStates
	// Executor opens the backend of a block of the configuration; env is the environment of its probes.
	Executor func(b *lang.Backend, env []string) (Executor, error)
	// Tools returns variables, KEY=value, with the locations of tools' files, such as caches and interpreters,
	// where a backend runs commands. They do not enter keys. A nil Tools returns none.
	Tools func(b *lang.Backend) []string
	// Environments is a directory for Python environments that sessions of a
	// backend share, as its commands see it.
	Environments func(b *lang.Backend) string
	// Offline forbids the network when Python environments are prepared.
	Offline bool
	// LookupEnv reads the caller's environment, for inherit and passthrough.
	LookupEnv func(name string) (string, bool)
	// Pins returns the locked requirements of a problem on a backend that has Python; env is the environment
	// of its probes. A nil slice without an error means that they are not locked yet. It is called when a
	// node that needs them is decided.
	Pins func(ctx context.Context, b backend.Backend, env, requires []string) ([]string, error)
	// Rehydrated contains backends that Rehydrate created in this environment. Their recent answers are not
	// queried again.
	Rehydrated []*BackendHandle
	// Benchmarks have rules that problems can specify instead of fevalgraph's.
	Benchmarks []Benchmark
	// Sources returns the sources of a node that reads source files. Nil gives each States and the store.
	Sources func(addr string) tasks.Sources
	// Rows returns the nodes of a partition whose answers are known, so that it is not compiled, or nil. A nil
	// function compiles every partition.
	Rows func(*Partition) []graph.Row
}

// Executor runs the work of nodes on a backend. One of its fields is set, or both Backend and Sandbox are.
type Executor struct {
	Backend backend.Backend     // runs commands
	Sandbox backend.Sandbox     // runs single programs of judge problems
	Server  backend.JudgeServer // grades whole submissions to judge problems
}

// Plan is a compiled configuration.
type Plan struct {
	Config *lang.Config
	Graph  *graph.Graph
	Cells  []*Cell    // that were compiled, by partition
	Tasks  []graph.ID // that no cell needs
	Pools  map[string]int

	handles  []*BackendHandle // in order of first use
	machines []*lang.Backend
}

// Machines returns variants of backends that provide machines, one for each kind of machine that cells need,
// in order of their first use.
func (p *Plan) Machines() []*lang.Backend { return p.machines }

// Cell is a cell of the plan, with its nodes.
type Cell struct {
	Problem     *lang.Problem
	Solution    *lang.Solution
	Backend     *lang.Backend // or a variant of its block, with the machines that the problem needs
	Repeat      int
	Suites      []string
	Partition   *Partition
	Checkpoints []CellCheckpoint // in order
	// Unjudged is the node of a cell without checkpoints.
	Unjudged graph.ID
}

// Targets returns the nodes that a run of the cell brings up to date: those with verdicts and figures.
func (c *Cell) Targets() (ids []graph.ID) {
	for i := range c.Checkpoints {
		ids = append(append(ids, c.Checkpoints[i].Aggregate), c.Checkpoints[i].Figures...)
	}
	if len(ids) == 0 {
		ids = append(ids, c.Unjudged)
	}
	return ids
}

// CellCheckpoint is a graded checkpoint of a cell.
type CellCheckpoint struct {
	Checkpoint *lang.Checkpoint
	// Own are the nodes that belong to no other checkpoint or cell, in topological order.
	Own []graph.ID
	// Cases are the cases of a judge problem, in order.
	Cases []CaseNode
	// Measured is the node with the output tasks.MeasurementsOutput, and Aggregate the node with
	// tasks.ResultOutput. They are equal if the problem gives scores.
	Measured, Aggregate graph.ID
	// Figures are nodes with measurements of the solution by tasks. They are not part of the verdict.
	Figures []graph.ID
}

// CaseNode is a case and the node with its verdict.
type CaseNode struct {
	Name    judge.CaseName
	Verdict graph.ID
}

// cellsOf iterates over the cells of a suite that are evaluated.
func cellsOf(s *lang.Suite) iter.Seq[lang.Cell] {
	return func(yield func(lang.Cell) bool) {
		for _, lc := range s.Cells {
			if s.ShardCount > 0 && !InShard(lc, s.ShardIndex, s.ShardCount) {
				continue
			}
			if !yield(lc) {
				return
			}
		}
	}
}

// compiler builds one plan.
type compiler struct {
	env        Environment
	plan       *Plan
	divided    partitioned
	backends   map[*lang.Backend]*driver
	judges     map[*lang.Backend]judgeOn
	groupings  map[*lang.Checkpoint]pytest.Grouping
	pytest     map[pytestKey]*pytestShared
	prepared   *pytest.Environments
	virtual    *command.Environments
	machine    *session.Machine
	imports    *separate.Search
	overrides  map[override]*driver
	services   []*[]lang.Service         // of overrides
	builders   map[string]*sharedBuilder // by the driver's address
	fleets     map[fleet]*lang.Backend
	about      map[subject][]*lang.Task
	standalone []*lang.Task
	err        error // first error about a task
}

// inProcessPool is the pool of nodes that run in this process and take almost no time. They do not queue
// behind long test runs, so that verdicts are known and stored as early as possible. No pool block can
// have this name.
const inProcessPool = "(in process)"

// InProcess reports whether a node's work runs in this process and takes almost no time.
func InProcess(n *graph.Node) bool { return n.Pool == inProcessPool }

// Compile turns a configuration into a graph. jobs is the size of the cpu pool. It does not read files or
// run programs, except through the functions of env.
func Compile(cfg *lang.Config, jobs int, env Environment) (*Plan, error) {
	c := &compiler{
		env:        env,
		plan:       &Plan{Config: cfg, Graph: graph.New(), Pools: map[string]int{graph.CPUPool: jobs, inProcessPool: jobs}},
		backends:   map[*lang.Backend]*driver{},
		judges:     map[*lang.Backend]judgeOn{},
		groupings:  map[*lang.Checkpoint]pytest.Grouping{},
		pytest:     map[pytestKey]*pytestShared{},
		prepared:   &pytest.Environments{Offline: env.Offline},
		virtual:    &command.Environments{},
		machine:    &session.Machine{Offline: env.Offline},
		imports:    &separate.Search{},
		overrides:  map[override]*driver{},
		builders:   map[string]*sharedBuilder{},
		fleets:     map[fleet]*lang.Backend{},
		about:      tasksAbout(cfg),
		standalone: Standalone(cfg),
	}
	c.divide(cfg, env.Rows)
	for _, p := range cfg.Pools {
		c.plan.Pools[p.Name] = p.Slots
	}
	for _, p := range cfg.Problems {
		if len(p.Invalid) > 0 {
			c.invalid(p)
		}
	}
	for _, suite := range cfg.Suites {
		for lc := range cellsOf(suite) {
			if err := c.partition(c.divided.of[lc]); err != nil {
				return nil, err
			}
		}
	}
	for _, t := range c.standalone {
		c.plan.Tasks = append(c.plan.Tasks, c.task(t))
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.plan, nil
}

// IDOf names a cell of a configuration.
func IDOf(lc lang.Cell) CellID {
	return CellID{Problem: lc.Solution.Problem.Name, Solution: lc.Solution.Name, Backend: lc.Backend.Addr(), Repeat: lc.Repeat}
}

// cell adds the nodes of a cell.
func (c *compiler) cell(part *Partition, pc partCell) error {
	problem := pc.Solution.Problem
	cell := &Cell{Problem: problem, Solution: pc.Solution, Backend: c.backendFor(problem, pc.Backend), Repeat: pc.Repeat, Partition: part}
	for _, s := range pc.Suites {
		cell.Suites = append(cell.Suites, s.Name)
	}
	s := pc.Suites[0]
	var err error
	switch {
	case len(cell.Problem.Invalid) > 0:
		c.invalidCell(cell)
	case cell.Problem.Judge != nil:
		err = c.judgeCell(s, cell)
	case cell.Problem.Command != nil:
		err = c.commandCell(s, cell)
	case cell.Problem.Verified:
		err = c.verifierCell(s, cell)
	default:
		err = c.pytestCell(s, cell)
	}
	if err != nil {
		return err
	}
	for i := range cell.Checkpoints {
		cell.Checkpoints[i].Figures = c.figures(cell, cell.Checkpoints[i].Checkpoint)
	}
	if len(cell.Checkpoints) == 0 && len(cell.Problem.Invalid) == 0 {
		c.unjudged(cell, nil)
	}
	c.plan.Cells = append(c.plan.Cells, cell)
	return c.err
}

// sourcesOf returns the sources of a node that reads source files.
func (c *compiler) sourcesOf(addr string) tasks.Sources {
	if c.env.Sources != nil {
		return c.env.Sources(addr)
	}
	return tasks.Sources{States: c.env.States, Store: c.env.Store}
}

// addOnce adds a node unless its address is known, for shared inputs of cells.
func (c *compiler) addOnce(n graph.Node) graph.ID {
	if id, ok := c.plan.Graph.Lookup(n.Addr); ok {
		return id
	}
	return c.plan.Graph.Add(n)
}
