// Package examples contains the example projects. Some are embedded, so that `fevalgraph init` can write them.
package examples

import (
	"embed"
	"io/fs"
	"maps"
	"slices"
)

//go:embed quickstart/fevalgraph.hcl quickstart/problems quickstart/solutions
//go:embed plain/fevalgraph.hcl plain/tests plain/solutions
//go:embed judge/fevalgraph.hcl judge/problems judge/solutions
//go:embed research/fevalgraph.hcl research/problems research/solutions
//go:embed scbench/*.hcl frontier-algorithmic/fevalgraph.hcl frontier-research/fevalgraph.hcl
//go:embed harbor/fevalgraph.hcl harbor/tasks harbor/solutions
//go:embed ci/step ci/action.yml ci/github all:ci/gitlab
//go:embed gate/fevalgraph.hcl gate/empty gate/tasks
//go:embed task/*.hcl task/grader task/judge task/solutions task/tools
var embedded embed.FS

// Starter is a project that init can write.
type Starter struct {
	Kind  string // name on the command line
	About string // description, such as "pytest problems with two solutions"
	Next  string // arguments of the next command to run in it
	dir   string
	at    string            // location of its files, relative to the project; "" is the root
	apart map[string]string // directories of dir whose files have another location
	also  []Part            // of other directories
}

// Starters lists the projects of init, the default first.
var Starters = []Starter{
	{Kind: "pytest", About: "one pytest problem with checkpoints and two solutions", Next: "run", dir: "quickstart"},
	{Kind: "plain", About: "a folder of plain pytest tests and two solutions", Next: "run", dir: "plain"},
	{Kind: "judge", About: "two problems with cases for go-judge, and solutions", Next: "run", dir: "judge"},
	{Kind: "command", About: "two problems with graders that give scores", Next: "run", dir: "research"},
	{Kind: "task", About: "a problem with data, fixture and solution made by tasks", Next: "run", dir: "task"},
	{Kind: "slopcodebench", About: "every problem of a SlopCodeBench checkout", Next: "run --var root=CHECKOUT", dir: "scbench"},
	{Kind: "frontier-algorithmic", About: "the algorithmic track of a Frontier-CS checkout", Next: "run --var root=CHECKOUT", dir: "frontier-algorithmic"},
	{Kind: "frontier-research", About: "the research track of a Frontier-CS checkout", Next: "run --var root=CHECKOUT", dir: "frontier-research"},
	{Kind: "harbor", About: "a Harbor task and a solution, or directories of them", Next: "run", dir: "harbor"},
	{Kind: "gate", About: "problems with cheats that must fail, and a workflow", Next: "validate --reference", dir: "gate", also: []Part{
		{only{sub("ci"), []string{"step", "action.yml"}}, "ci"}, {only{sub("ci/github"), []string{"validate.yml"}}, ".github/workflows"}}},
	{Kind: "ci", About: "steps for CI systems, and workflows of GitHub", Next: "lock", dir: "ci", at: "ci",
		apart: map[string]string{"github": ".github/workflows"}},
}

// Part is a directory with files of a project.
type Part struct {
	Files fs.FS
	At    string // relative to the project; "" is the root
}

// Parts returns the parts that init writes.
func (s Starter) Parts() []Part {
	parts := []Part{{except{s.Files(), s.apart}, s.at}}
	for _, from := range slices.Sorted(maps.Keys(s.apart)) {
		parts = append(parts, Part{sub(s.dir + "/" + from), s.apart[from]})
	}
	return append(parts, s.also...)
}

// except hides directories at the root of a file system.
type except struct {
	fs.FS
	names map[string]string
}

// ReadDir implements fs.ReadDirFS.
func (e except) ReadDir(dir string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(e.FS, dir)
	return slices.DeleteFunc(entries, func(d fs.DirEntry) bool {
		_, out := e.names[d.Name()]
		return out && dir == "."
	}), err
}

// only leaves everything but some names out of the top of a file system.
type only struct {
	fs.FS
	names []string
}

// ReadDir implements fs.ReadDirFS.
func (o only) ReadDir(dir string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.FS, dir)
	return slices.DeleteFunc(entries, func(d fs.DirEntry) bool { return dir == "." && !slices.Contains(o.names, d.Name()) }), err
}

// Files returns the files of the project.
func (s Starter) Files() fs.FS { return sub(s.dir) }

// sub returns the embedded files of a directory.
func sub(dir string) fs.FS {
	files, err := fs.Sub(embedded, dir)
	if err != nil {
		panic(err) // an invalid directory name is a bug in the list
	}
	return files
}
