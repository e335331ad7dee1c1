package judge

import (
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
)

// ByHand lists what the user needs to judge a case by hand: the files, and the programs to start next to
// them, with their arguments.
type ByHand struct {
	Files    []cache.Entry
	Solution []string
	Tool     []string // the checker or the interactor
	// Talks reports that each program reads the other's output. Otherwise, the solution reads FileIn, and the
	// checker FileOut.
	Talks bool
}

// The names of files of ByHand.
const (
	FileIn  = fileIn
	FileOut = fileOut
)

// ByHand returns the files of a case. run is the Work of the Run, and check that of the Check.
func (c *Check) ByHand(r *Run, run, check *graph.Work) (ByHand, error) {
	h := ByHand{Tool: []string{"./chk", fileIn, fileOut, fileAns}}
	return h, h.add(r.Language, r.Filename, run, check, "chk")
}

// ByHand returns the files of a case.
func (i *Interact) ByHand(w *graph.Work) (ByHand, error) {
	h := ByHand{Tool: []string{"./interactor", fileIn, "tout.txt", fileAns}, Talks: true}
	return h, h.add(i.Language, i.Filename, w, w, "interactor")
}

// add adds the files of both ways of judging, from the work that has the tool, since a Run has no answer.
func (h *ByHand) add(l Language, filename string, run, judge *graph.Work, tool string) error {
	program, ok := run.Input(FromSolution, OutputProgram)
	if !ok {
		return fmt.Errorf("the solution does not compile, so there is nothing to run")
	}
	argv, as := l.program(filename)
	if l.compiled {
		argv = []string{"./" + as}
	}
	h.Solution = argv
	h.Files = []cache.Entry{{Path: as, Digest: program, Executable: l.compiled}}
	for _, f := range []struct{ from, output, name string }{
		{FromTool, OutputProgram, tool}, {FromTestData, OutputIn, fileIn}, {FromTestData, OutputAns, fileAns},
	} {
		d, err := input(judge, f.from, f.output)
		if err != nil {
			return err
		}
		h.Files = append(h.Files, cache.Entry{Path: f.name, Digest: d, Executable: f.from == FromTool})
	}
	return nil
}
