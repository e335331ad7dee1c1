package plan

import (
	"slices"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// tests adds the node with the tests of a checkpoint: its test files, and the files that all checkpoints of
// the problem share. Cells share the node.
func (c *compiler) tests(p *lang.Problem, cp *lang.Checkpoint) graph.ID {
	addr, labels := address(KindTests, p.Name, cp.Name), problemLabels(p, cp.Name)
	files := tasks.Tests{Files: testFiles(p, cp), MayLack: p.Pytest.MissingTests == "skip"}
	if from := p.Pytest.RootFrom; from != nil {
		return c.place(addr, KindTests, labels, from, tasks.Place{Shared: true, Ignore: tasks.TestLeavings(), Tests: &files})
	}
	files.Root = p.Pytest.Root
	return c.addOnce(graph.Node{Addr: addr, Kind: KindTests, Labels: labels, Task: tasks.NewTests(files, c.sourcesOf(addr)), Pool: inProcessPool})
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
