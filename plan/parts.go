package plan

import (
	"slices"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// part is a part of a checkpoint's tests with a separate pytest node.
type part struct {
	file  string // test file that names it; "" if undivided
	alone bool   // runs only that file
	tests graph.ID
}

// commonTests is the name of the node with the tests that all checkpoints share. No test file has this
// name.
const commonTests = "common"

// parts divides the tests of a checkpoint: not at all, or into one part for each of its test files,
// sorted. Other tests that pytest finds, in directories or in files called *_test.py, run once in every
// checkpoint: with the checkpoint's own file, which then does not run alone.
func (c *compiler) parts(p *lang.Problem, cp *lang.Checkpoint) []part {
	files := testFiles(p, cp)
	if p.Pytest.Split != lang.SplitFile {
		return []part{{tests: c.tests(p, cp.Name, problemLabels(p, cp.Name), files, p.Pytest.MissingTests == "skip")}}
	}
	// Other test files have other names, and are present in every checkpoint, or missing.
	files = slices.DeleteFunc(files, func(file string) bool { return !slices.Contains(p.Pytest.TestFiles, file) })
	slices.Sort(files)
	files = slices.Compact(files)
	if len(files) == 0 {
		return []part{{tests: c.tests(p, commonTests, problemLabels(p, ""), nil, false)}}
	}
	// Inserted before files of earlier checkpoints, which run alone.
	lead := max(0, slices.IndexFunc(files, func(file string) bool { return slices.Contains(cp.Tests, file) }))
	parts := make([]part, len(files))
	for i, file := range files {
		labels := append(problemLabels(p, ""), graph.Label{Name: "file", Value: file})
		parts[i] = part{file: file, alone: i != lead, tests: c.tests(p, file, labels, []string{file}, false)}
	}
	return parts
}

// testFiles returns a checkpoint's own test files and, if it includes them, those of the checkpoints before
// it.
func testFiles(p *lang.Problem, cp *lang.Checkpoint) []string {
	files := slices.Clone(cp.Tests)
	if cp.IncludePriorTests {
		for _, prior := range p.Checkpoints {
			if prior == cp {
				break
			}
			files = append(files, prior.Tests...)
		}
	}
	return files
}

// tests adds the node with some of a problem's test files and their common files. Cells share it, and so
// do checkpoints with an equal name for it.
func (c *compiler) tests(p *lang.Problem, name string, labels []graph.Label, files []string, mayLack bool) graph.ID {
	addr := address(KindTests, p.Name, name)
	if from := p.Pytest.RootFrom; from != nil {
		return c.place(addr, KindTests, labels, from, tasks.Place{Shared: true, Ignore: tasks.TestLeavings(), Tests: &tasks.Tests{Files: files, MayLack: mayLack}})
	}
	return c.addOnce(graph.Node{
		Addr: addr, Kind: KindTests, Labels: labels,
		Task: tasks.NewTests(tasks.Tests{Root: p.Pytest.Root, Files: files, MayLack: mayLack}, c.sourcesOf(addr)), Pool: inProcessPool,
	})
}
