package frontier

import (
	"os"

	"github.com/fevalgraph/fevalgraph/compat/frontier/batch"
	"github.com/fevalgraph/fevalgraph/lang"
)

// hashes remembers the hashes of problems' directories.
type hashes struct{ known map[treeOf]string }

func newHashes() *hashes { return &hashes{known: map[treeOf]string{}} }

// treeOf is a directory as a generation of the batch evaluator sees it.
type treeOf struct {
	dir        string
	generation batch.Generation
}

// hashesOf returns the hashes that batches compute of a solution's file and its problem's directory. A solution
// without a file, and an invalid problem, have the hash "".
func (h *hashes) hashesOf(s *lang.Solution, g batch.Generation) (solution, problem string, err error) {
	if source := answerOf(s); source != "" && isFile(source) {
		if solution, err = batch.HashFile(source); err != nil {
			return "", "", err
		}
	}
	dir := ""
	switch {
	case s.Problem.Command != nil:
		dir = s.Problem.Command.Root
	case s.Problem.Judge != nil:
		dir = s.Problem.Judge.Root
	default:
		return solution, "", nil
	}
	key := treeOf{dir, g}
	problem, known := h.known[key]
	if !known {
		if problem, err = batch.HashDirectory(dir, g); err != nil {
			return "", "", err
		}
		h.known[key] = problem
	}
	return solution, problem, nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
