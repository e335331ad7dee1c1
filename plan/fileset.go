package plan

import (
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// fileSet lists the files that a node of a judge problem reads, from this machine and from tasks.
type fileSet struct {
	here, dirs []tasks.Named
	made       []tasks.Made
	deps       []graph.Dep
}

// madeTree is an output of a task that replaces a path of a judge problem.
type madeTree struct {
	node graph.ID
	as   string // the dependency on it
}

// file adds a file under a name: at an absolute path or, in a task's output, a relative one.
func (f *fileSet) file(name, path string, in *madeTree) {
	if in == nil {
		f.here = append(f.here, tasks.Named{Name: name, Abs: path})
		return
	}
	f.add(tasks.Made{Name: name, As: in.as, Path: path}, in)
}

func (f *fileSet) add(m tasks.Made, in *madeTree) {
	f.made = append(f.made, m)
	for _, d := range f.deps {
		if d.As == in.as {
			return
		}
	}
	f.deps = append(f.deps, graph.Dep{On: in.node, As: in.as, Outputs: treeOutput})
}

func (f *fileSet) of(sources tasks.Sources) *tasks.Files {
	return tasks.NewFiles(tasks.NewNamed(f.here, f.dirs, sources), f.made)
}

// output adds the node of an output that replaces a path of the problem, or returns nil. If the output is
// a file, it has the name of the attribute.
func (j *judging) output(attribute string, from *lang.OutputRef) *madeTree {
	if from == nil {
		return nil
	}
	p := tasks.Place{Shared: true}
	if kind := from.Output().Kind; kind == lang.OutputFile || kind == lang.OutputAny && attribute == "checker" {
		p.Target = attribute
	}
	addr := address(KindMaterialize, j.cell.Problem.Name, attribute)
	return &madeTree{j.place(addr, KindMaterialize, problemLabels(j.cell.Problem, ""), from, p), attribute}
}

// data returns the task's output with the files of cases, or nil.
func (j *judging) data() *madeTree { return j.output("testdata", j.judge.TestDataFrom) }

// checkerFiles returns the source of the checker or interactor, under a name, and the headers, below a
// directory.
func (j *judging) checkerFiles(headers, name string) (in fileSet) {
	for _, dir := range j.judge.Include {
		in.dirs = append(in.dirs, tasks.Named{Name: headers, Abs: dir})
	}
	if from := j.output("include", j.judge.IncludeFrom); from != nil {
		in.add(tasks.Made{Name: headers, As: from.as, Dir: true}, from)
	}
	if from := j.output("checker", j.judge.CheckerFrom); from != nil {
		in.file(name, from.as, from)
	} else {
		in.file(name, j.judge.Checker, nil)
	}
	return in
}

// code returns the solution, a file under a name.
func (j *judging) code(filename string) (in fileSet) {
	s := j.cell.Solution
	if j.answer.From == nil {
		in.file(filename, j.answer.Source, nil)
		return in
	}
	addr := address(KindSubmission, s.Problem.Name, s.Name)
	labels := append(problemLabels(s.Problem, ""), graph.Label{Name: "solution", Value: s.Name})
	in.file(filename, filename, &madeTree{j.place(addr, KindSubmission, labels, j.answer.From, tasks.Place{Target: filename, Plain: true}), "submission"})
	return in
}
