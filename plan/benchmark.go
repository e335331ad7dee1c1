package plan

import (
	"context"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/command/score"
	"github.com/fevalgraph/fevalgraph/tasks/judge"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
	"github.com/fevalgraph/fevalgraph/tasks/verifier"
)

// Benchmark contains everything that is specific to one benchmark: the rules by which its programs judge,
// and the formats of files that they write and read. Any part can be nil. The caller provides benchmarks; no
// code here names one.
type Benchmark struct {
	// Name is the value of compat in problems and the kind of export blocks.
	Name   string
	Score  score.Dialect // of command problems
	Judge  judge.Dialect // of judge problems
	Export func(context.Context, Export) error
	Import *Importer
	// Logs are formats of result files that can be compared without a project.
	Logs []LogFormat
	// Readers read the benchmark's own problems and solutions.
	Readers   []lang.Reader
	Functions []lang.Function
	// Configure returns a configuration for a directory that lacks one but contains problems of the benchmark,
	// and otherwise "".
	Configure func(dir string) string
}

// WithBenchmarks adds the parts of benchmarks that extend the language to options.
func WithBenchmarks(o lang.Options, benchmarks []Benchmark) lang.Options {
	for _, b := range benchmarks {
		o.Readers = append(o.Readers, b.Readers...)
		o.Functions = append(o.Functions, b.Functions...)
	}
	o.Results = recordedReader(LogFormats(benchmarks))
	return o
}

// Export is a request to write results in the files of a benchmark's own tools.
type Export struct {
	Plan    *Plan
	Store   cache.Store
	Run     *graph.Report
	Results *report.Results // of the export's suite
	Suite   string
	Dir     string // base of relative paths of files
}

// Cells returns a function that finds the plan's cell for a cell of results, and returns nil for unknown ones.
func (e *Export) Cells() func(*report.Cell) *Cell {
	cells := make(map[CellID]*Cell, len(e.Plan.Cells))
	for _, c := range e.Plan.Cells {
		cells[c.ID()] = c
	}
	return func(rc *report.Cell) *Cell { return cells[ResultCell(rc)] }
}

// Importer reads results that another tool wrote.
type Importer struct {
	Source string // a description of the file: "a `STATE` of ...", with the file's name in backquotes
	Help   string // a paragraph about the import
	Decode func(text []byte) (Foreign, error)
}

// Foreign contains results of another tool.
type Foreign interface {
	// Len returns their number.
	Len() int
	// Cells returns the cells for the current files of p. from is the file's name; if counted is set, the
	// verdicts count as if they had been judged here.
	Cells(p *Plan, from string, counted bool) (Imported, error)
}

// Imported contains results of another tool as cells.
type Imported struct {
	Cells   []report.Cell
	Skipped []SkippedResult // all others, in the file's order
}

// SkippedResult is a result that is not imported.
type SkippedResult struct{ Name, Why string }

// Count returns how many results were skipped for each reason, in order of first occurrence.
func (i *Imported) Count() []string {
	n := map[string]int{}
	var order []string
	for _, s := range i.Skipped {
		if n[s.Why]++; n[s.Why] == 1 {
			order = append(order, s.Why)
		}
	}
	for j, why := range order {
		order[j] = fmt.Sprintf("%d %s", n[why], why)
	}
	return order
}

// ownRules contains fevalgraph's own rules.
const ownRules = "safe"

// benchmark returns the benchmark whose rules a problem specifies, or nil for fevalgraph's rules.
func (e *Environment) benchmark(compat string, has func(*Benchmark) bool) (*Benchmark, error) {
	if compat == ownRules {
		return nil, nil
	}
	for i := range e.Benchmarks {
		if b := &e.Benchmarks[i]; b.Name == compat && has(b) {
			return b, nil
		}
	}
	return nil, fmt.Errorf("compat = %q: this version has no such rules", compat)
}

func (e *Environment) judgeRules(compat string) (judge.Rules, error) {
	rules := judge.Rules{Name: compat}
	b, err := e.benchmark(compat, func(b *Benchmark) bool { return b.Judge != nil })
	if b != nil {
		rules.Dialect = b.Judge
	}
	return rules, err
}

func (e *Environment) scoreDialect(compat string) (score.Dialect, error) {
	b, err := e.benchmark(compat, func(b *Benchmark) bool { return b.Score != nil })
	if b == nil {
		return nil, err
	}
	return b.Score, nil
}

// PytestOutput reads the output of a checkpoint's tests: pytest-json-report's file and pytest's log. Both are
// nil if the tests did not run.
func (p *Plan) PytestOutput(ctx context.Context, store cache.Store, run *graph.Report, cc *CellCheckpoint) (jsonReport, log []byte, err error) {
	for _, id := range cc.Own { // none of a checkpoint that a selective run did not compile
		if p.Graph.Node(id).Kind != KindPytest {
			continue
		}
		if jsonReport, log, err = pytest.ReadOutput(ctx, store, run.Status(id).Outputs); err != nil {
			return nil, nil, fmt.Errorf("reading the report of the tests of %s: %w", cc.Checkpoint.Name, err)
		}
	}
	return jsonReport, log, nil
}

// VerifierOutput is the output of a checkpoint's verifier: the numbers that it wrote, with bools as 0 and 1,
// nil without a file, and digests of its tree of files and of its printed output.
type VerifierOutput struct {
	Rewards    map[string]float64
	NoReward   NoReward // why the output has no score; "" for all other ends
	Files, Log cache.Digest
}

// NoReward is a reason why a reward is missing.
type NoReward = verifier.NoReward

// Reasons for a missing reward.
const (
	MissingReward  = verifier.Missing
	EmptyReward    = verifier.Empty
	UnusableReward = verifier.Unusable
)

// VerifierOutput reads the output of a checkpoint's verifier.
func (p *Plan) VerifierOutput(ctx context.Context, store cache.Store, run *graph.Report, cc *CellCheckpoint) (out VerifierOutput, err error) {
	for _, id := range cc.Own {
		st := run.Status(id)
		if st.State == event.Broken {
			out.NoReward = NoReward(st.Fault) // other errors match none of the reasons
		}
		if _, ok := st.Output(verifier.OutputRewards); !ok {
			continue
		}
		var rewards map[string]any
		if err := readOutput(ctx, store, st, verifier.OutputRewards, &rewards); err != nil {
			return out, fmt.Errorf("reading the rewards of %s: %w", cc.Checkpoint.Name, err)
		}
		out.Rewards = verifier.Numbers(rewards)
		files, _ := st.Output(verifier.OutputFiles)
		log, _ := st.Output(verifier.OutputLog)
		out.Files, out.Log = files.Digest, log.Digest
	}
	return out, nil
}

// SubmissionTree returns the judged tree of a solution's files for a checkpoint, or false if it is missing.
func (p *Plan) SubmissionTree(run *graph.Report, cell *Cell, cc *CellCheckpoint) (cache.Digest, bool) {
	id, ok := p.Graph.Lookup(address(KindSubmission, cell.Problem.Name, readFor(cell.Solution, cc.Checkpoint.Name), cell.Solution.Name))
	if !ok {
		return cache.Digest{}, false
	}
	tree, ok := run.Status(id).Output(tasks.TreeOutput)
	return tree.Digest, ok
}

// StoredVerdict returns the digest of the verdict on a checkpoint, and the key under which it is stored; false if it is
// missing.
func StoredVerdict(run *graph.Report, cc *CellCheckpoint) (cache.Key, cache.Digest, bool) {
	st := run.Status(cc.Aggregate)
	o, ok := st.Output(tasks.ResultOutput)
	return st.Key, o.Digest, ok
}
