package gen

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/gen/answer"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
)

// Kinds of nodes.
const (
	KindPrompt  = "prompt"
	KindAnswer  = "answer"
	KindFiles   = "files"
	KindSources = "sources" // existing files that replace these three
)

// longestWait bounds the pause before a request is sent again.
const longestWait = time.Minute

// Batch contains all code that generators must make.
type Batch struct {
	Graph *graph.Graph
	Steps []*Step // grouped by attempt, in the order of checkpoints
}

// Step is the code of one checkpoint by one attempt.
type Step struct {
	Generator  *Generator
	Problem    *lang.Problem
	Checkpoint *lang.Checkpoint
	Attempt    int   // from 1
	Before     *Step // of the checkpoint before; nil at the first
	// Place is the directory of the code, relative to the generator's. For a judge problem the code is the
	// only file in it.
	Place  string
	Prompt graph.ID // -1 when the files are there, and so is Answer
	Answer graph.ID
	Files  graph.ID
}

// Axes returns the labels of nodes, for selectors.
func Axes() []string {
	return []string{"generator", "problem", "checkpoint", "attempt", "model", "kind"}
}

// New creates the graph of some generators. keep reports whether the existing files of a step, which has no
// nodes yet, are kept; nil keeps none.
func New(all []*Generator, keep func(*Step) bool) *Batch {
	b := &Batch{Graph: graph.New()}
	for _, g := range all {
		for _, p := range g.Problems {
			if p.Kind() == "" {
				continue // an invalid problem
			}
			for attempt := 1; attempt <= g.Attempts; attempt++ {
				b.attempt(g, p, attempt, keep)
			}
		}
	}
	return b
}

func (b *Batch) attempt(g *Generator, p *lang.Problem, attempt int, keep func(*Step) bool) {
	var before *Step
	for _, c := range p.Checkpoints {
		s := &Step{Generator: g, Problem: p, Checkpoint: c, Attempt: attempt, Before: before, Prompt: -1, Answer: -1}
		s.Place = path.Join(s.Base(), fileName(c.Name))
		if keep != nil && keep(s) {
			s.Files = b.add(s, KindSources, &sources{dir: g.Directory, place: s.Place}, nil)
		} else {
			b.ask(s)
		}
		b.Steps = append(b.Steps, s)
		before = s
	}
}

// ask adds the nodes of a step.
func (b *Batch) ask(s *Step) {
	g, later := s.Generator, s.Before != nil
	var code []graph.Dep
	if later {
		code = []graph.Dep{{On: s.Before.Files, As: fromBefore, Outputs: []string{treeOutput}}}
	}
	s.Prompt = b.add(s, KindPrompt, &prompting{g: g, problem: s.Problem, check: s.Checkpoint, attempt: s.Attempt, later: later}, code)
	s.Answer = b.add(s, KindAnswer, &asking{g: g, attempt: s.Attempt}, []graph.Dep{{On: s.Prompt, As: fromPrompt, Outputs: []string{promptOutput}}})
	n := b.Graph.Node(s.Answer)
	n.Pool, n.Retry = g.Ref, graph.Retry{Attempts: g.Retry.Attempts, Wait: g.Retry.Wait, Longest: max(longestWait, g.Retry.Wait)}
	n.Kept = true // its usage is read afterwards
	s.Files = b.add(s, KindFiles, &reading{unnamed: unnamed(g.Generator, s.Problem), only: s.Problem.Judge != nil, later: later},
		append([]graph.Dep{{On: s.Answer, As: fromAnswer, Outputs: []string{answerOutput, usageOutput}}}, code...))
	b.Graph.Node(s.Files).Kept = true
}

func (b *Batch) add(s *Step, kind string, task graph.Task, deps []graph.Dep) graph.ID {
	number := strconv.Itoa(s.Attempt)
	return b.Graph.Add(graph.Node{Addr: kind + ":" + s.Name(), Kind: kind, Task: task, Deps: deps, Labels: []graph.Label{
		{Name: "problem", Value: s.Problem.Name}, {Name: "checkpoint", Value: s.Checkpoint.Name}, {Name: "generator", Value: s.Generator.Name},
		{Name: "attempt", Value: number}, {Name: "model", Value: s.Generator.ModelLabel()}}})
}

// Name returns the unique name of a step.
func (s *Step) Name() string {
	return NameOf(s.Problem.Name, s.Checkpoint.Name, s.Generator.Name, s.Attempt)
}

// NameOf returns the name of a step: problem/checkpoint/generator#attempt.
func NameOf(problem, checkpoint, generator string, attempt int) string {
	var parts []string
	for _, name := range []string{problem, checkpoint, generator} {
		if name != "" {
			parts = append(parts, strings.NewReplacer("%", "%25", "/", "%2F").Replace(name))
		}
	}
	return fmt.Sprintf("%s#%d", strings.Join(parts, "/"), attempt)
}

// Base returns the directory of an attempt, relative to the generator's. Its labels are in the file with the
// same name and the suffix .json.
func (s *Step) Base() string {
	return path.Join(fileName(s.Problem.Name), strconv.Itoa(s.Attempt))
}

// fileName encodes a name for a directory: unchanged, if every system accepts it.
func fileName(name string) string {
	if name == "" || answer.CheckPath(name) == nil && !strings.ContainsAny(name, "/%") {
		return name
	}
	return lang.FileName(name)
}
