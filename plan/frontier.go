package plan

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/frontier"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// KindFrontier is the kind of export that writes the files of Frontier-CS's
// batches.
const KindFrontier = "frontier"

// fallbackExtension is that of solutions whose files nobody looked for, because
// their problem is invalid. Without one, "m.1" would be an attempt of "m".
const fallbackExtension = ".py"

// failedExtension is that of a file which says that there is no answer.
const failedExtension = ".FAILED"

// ExportFrontier writes results as Frontier-CS's batches do below dir: in dir
// itself when they are of one backend and one repeat, else in a directory for
// each of these. Problems that give no scores, and answers that are not there,
// are left out. The hashes are of the files as they are now; observe is told of
// them: kind "file" is a file, "tree" a directory with all that is in it.
func (p *Plan) ExportFrontier(results *report.Results, title, dir string, left report.Left, observe func(kind, name string)) error {
	cells := map[cellName]*Cell{}
	for _, c := range p.Cells {
		cells[nameOf(c)] = c
	}
	hashes := newFrontierHashes(observe)
	var batches []string
	members := map[string][]frontier.Result{}
	for i := range results.Cells {
		rc := &results.Cells[i]
		cell := cells[cellName{rc.Problem, rc.Solution, rc.Backend, rc.Repeat}]
		if cell == nil || cell.Problem.Pytest != nil || len(cell.NotReached) > 0 {
			continue
		}
		r, err := frontierResult(cell, rc, hashes)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", rc.Solution, rc.Problem, err)
		}
		batch := rc.Backend
		if rc.Repeat > 1 {
			batch += "#" + strconv.Itoa(rc.Repeat)
		}
		if _, known := members[batch]; !known {
			batches = append(batches, batch)
		}
		members[batch] = append(members[batch], r)
	}
	for _, batch := range batches {
		target := dir
		if len(batches) > 1 {
			target = filepath.Join(dir, batch)
		}
		if err := frontier.Write(target, title, members[batch], func(path string, content []byte) { left.Tell(path, content, false) }); err != nil {
			return err
		}
	}
	return nil
}

func nameOf(c *Cell) cellName {
	return cellName{c.Problem.Name, c.Solution.Name, c.Backend.Addr(), c.Repeat}
}

// FrontierPair is how batches call a solution: by its problem and its file.
func FrontierPair(s *lang.Solution) frontier.Pair {
	ext := failedExtension
	if s.Failed == "" {
		ext = filepath.Ext(answerOf(s))
	}
	name := strings.ReplaceAll(s.Name, ":", "_") // a colon ends a solution
	return frontier.Pair{Solution: s.Problem.Name + "/" + name + cmp.Or(ext, fallbackExtension), Problem: s.Problem.Name}
}

// answerOf is the solution's file, or "" when its problem is invalid.
func answerOf(s *lang.Solution) string {
	if len(s.Checkpoints) == 0 {
		return ""
	}
	return s.Checkpoints[0].Source
}

// frontierResult is what a cell came to. What broke or was not begun is
// pending: a batch has no other word for what is to be judged again.
func frontierResult(cell *Cell, rc *report.Cell, hashes frontierHashes) (frontier.Result, error) {
	c := rc.Listed()[0]
	r := frontier.Result{Pair: FrontierPair(cell.Solution), Seconds: c.DurationMS / 1000}
	if rc.Message != nil {
		r.Message = *rc.Message
	}
	r.Score, r.Unbounded = scoreOf(rc.Score, c.ScoreText), scoreOf(rc.ScoreUnbounded, c.ScoreUnboundedText)
	switch rc.Status {
	case verdict.Success:
		r.Status = frontier.Success
	case verdict.TimedOut:
		r.Status = frontier.Timeout
	case verdict.Error:
		r.Status = frontier.Error
		if c.Class == verdict.NoSubmission {
			r.Unbounded, r.Message = nil, "Generation failed: "+r.Message
		}
	case verdict.Skipped:
		r.Status = frontier.Pending
		if c.InfrastructureFailure {
			r.Status = frontier.Skipped
		}
	default:
		r.Status, r.Message = frontier.Pending, "broken: "+r.Message
	}
	var err error
	r.SolutionHash, r.ProblemHash, err = hashes.of(cell.Solution, frontier.Second)
	return r, err
}

// scoreOf is a score with what is no finite number.
func scoreOf(score *float64, text string) *float64 {
	if f, err := strconv.ParseFloat(text, 64); text != "" && err == nil {
		return &f
	}
	return score
}

// frontierHashes remembers the hashes of problems' directories.
type frontierHashes struct {
	known   map[frontierHash]string
	observe func(kind, name string)
}

func newFrontierHashes(observe func(kind, name string)) frontierHashes {
	return frontierHashes{known: map[frontierHash]string{}, observe: observe}
}

type frontierHash struct {
	dir        string
	generation frontier.Generation
}

// of hashes a solution's file and its problem's directory as batches do; "" is
// the hash of a solution that is no file, and of a problem that is invalid.
func (h frontierHashes) of(s *lang.Solution, g frontier.Generation) (solution, problem string, err error) {
	source := answerOf(s)
	if source != "" {
		h.observe("file", source)
	}
	if source != "" && isFile(source) {
		if solution, err = frontier.HashFile(source); err != nil {
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
	key := frontierHash{dir, g}
	problem, known := h.known[key]
	if !known {
		h.observe("tree", dir)
		if problem, err = frontier.HashDirectory(dir, g); err != nil {
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
