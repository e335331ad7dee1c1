package plan

import (
	"slices"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// part is a share of a checkpoint's tests, which has a separate pytest node.
type part struct {
	file  string // the test file that it is named after; "" if undivided
	alone bool   // runs only that file
	tests graph.ID
}

// commonTests names the node with the tests that every checkpoint gets. No test file has this name.
const commonTests = "common"

// parts divides the tests of a checkpoint: not at all, or one for each of its test files, sorted. Other
// tests that pytest finds, in directories or in files called *_test.py, run once in every checkpoint: with
// the checkpoint's own file, which then does not run alone.
func (c *compiler) parts(p *lang.Problem, cp *lang.Checkpoint) []part {
	files := testFiles(p, cp)
	if p.Pytest.Split != lang.SplitFile {
		return []part{{tests: c.tests(p, cp.Name, problemLabels(p, cp.Name), files, p.Pytest.MissingTests == "skip")}}
	}
	// Others have other names, and are there in every checkpoint, or are missing.
	files = slices.DeleteFunc(files, func(file string) bool { return !slices.Contains(p.Pytest.TestFiles, file) })
	slices.Sort(files)
	files = slices.Compact(files)
	if len(files) == 0 {
		return []part{{tests: c.tests(p, commonTests, problemLabels(p, ""), nil, false)}}
	}
	// Before an earlier checkpoint's file: that one runs alone.
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

// tests adds the node with some of a problem's test files and everything that
// is common to them, shared by cells and, if its name is, by checkpoints.
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
