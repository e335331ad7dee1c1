// Package examples holds the example projects. Some are embedded, so that
// `fevalgraph init` can write them anywhere.
package examples

import (
	"embed"
	"io/fs"
)

//go:embed quickstart/fevalgraph.hcl quickstart/problems quickstart/solutions
//go:embed plain/fevalgraph.hcl plain/tests plain/solutions
//go:embed judge/fevalgraph.hcl judge/problems judge/solutions
//go:embed research/fevalgraph.hcl research/problems research/solutions
//go:embed scbench/*.hcl frontier-algorithmic/fevalgraph.hcl frontier-research/fevalgraph.hcl
//go:embed harbor/fevalgraph.hcl harbor/tasks harbor/solutions
//go:embed task/*.hcl task/grader task/judge task/solutions task/tools
var embedded embed.FS

// Starter is a project that init writes.
type Starter struct {
	Kind  string // its name on the command line
	About string // what it is, as "pytest problems with two solutions"
	Next  string // arguments of the command to run in it next
	dir   string
}

// Starters are the projects that init knows, the default first.
var Starters = []Starter{
	{"pytest", "one pytest problem with checkpoints and two solutions", "run", "quickstart"},
	{"plain", "a folder of plain pytest tests and two solutions", "run", "plain"},
	{"judge", "two problems with cases for go-judge, and solutions", "run", "judge"},
	{"command", "two problems with graders that give scores", "run", "research"},
	{"task", "a problem whose data, fixture and solution tasks make", "run", "task"},
	{"slopcodebench", "every problem of a SlopCodeBench checkout", "run --var root=CHECKOUT", "scbench"},
	{"frontier-algorithmic", "the algorithmic track of a Frontier-CS checkout", "run --var root=CHECKOUT", "frontier-algorithmic"},
	{"frontier-research", "the research track of a Frontier-CS checkout", "run --var root=CHECKOUT", "frontier-research"},
	{"harbor", "a Harbor task and a solution, or directories of them", "run", "harbor"},
}

// Files returns the files of the project.
func (s Starter) Files() fs.FS {
	files, err := fs.Sub(embedded, s.dir)
	if err != nil {
		panic(err) // the name of a directory is no valid path: a defect of the list
	}
	return files
}
