package frontier

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/compat/frontier/batch"
	"github.com/fevalgraph/fevalgraph/compat/outdir"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// fallbackExtension is that of solutions whose files are not looked for, because
// their problem is invalid. Without one, "m.1" would be an attempt of "m".
const fallbackExtension = ".py"

// failedExtension ends the name of a file that reports a missing answer.
const failedExtension = ".FAILED"

// export writes results as Frontier-CS's batches do: in the directory itself when
// they are of one backend and one repeat, else in a directory for each of these.
// Problems that give no scores, and answers that are not there, are left out. The
// hashes are of the files as they are now.
func export(_ context.Context, e plan.Export) error {
	cellOf := e.Cells()
	hashes := newHashes()
	var batches []string
	members := map[string][]batch.Result{}
	for i := range e.Results.Cells {
		rc := &e.Results.Cells[i]
		cell := cellOf(rc)
		if cell == nil || cell.Problem.Pytest != nil || cell.Problem.Verified || len(cell.Solution.Checkpoints) > 0 && cell.Solution.Checkpoints[0].Missing {
			continue
		}
		r, err := resultOf(cell, rc, hashes)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", rc.Solution, rc.Problem, err)
		}
		name := rc.Backend
		if rc.Repeat > 1 {
			name += "#" + strconv.Itoa(rc.Repeat)
		}
		if _, known := members[name]; !known {
			batches = append(batches, name)
		}
		members[name] = append(members[name], r)
	}
	return outdir.Export(e.Dir, "frontier "+e.Suite, func(out *outdir.Dir) error {
		for _, name := range batches {
			target := e.Dir
			if len(batches) > 1 {
				target = filepath.Join(e.Dir, name)
			}
			files, err := batch.Files("Evaluation Summary - "+e.Suite, members[name])
			if err != nil {
				return err
			}
			for _, f := range files {
				if err := out.Write(filepath.Join(target, f.Name), f.Content); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// pairOf returns a solution as batches name it: by its problem and its file.
func pairOf(s *lang.Solution) batch.Pair {
	ext := failedExtension
	if s.Failed == "" {
		ext = filepath.Ext(answerOf(s))
	}
	name := strings.ReplaceAll(s.Name, ":", "_") // a colon ends a solution
	return batch.Pair{Solution: s.Problem.Name + "/" + name + cmp.Or(ext, fallbackExtension), Problem: s.Problem.Name}
}

// answerOf returns the solution's file, or "" if its problem is invalid.
func answerOf(s *lang.Solution) string {
	if len(s.Checkpoints) == 0 {
		return ""
	}
	return s.Checkpoints[0].Source
}

// resultOf returns the result of a cell. A broken or unstarted cell is pending: a batch has no other word
// for a pair that must be judged again.
func resultOf(cell *plan.Cell, rc *report.Cell, hashes *hashes) (batch.Result, error) {
	c := rc.Listed()[0]
	r := batch.Result{Pair: pairOf(cell.Solution), Seconds: c.DurationMS / 1000}
	if rc.Message != nil {
		r.Message = *rc.Message
	}
	r.Score, r.Unbounded = scoreOf(rc.Score, c.ScoreText), scoreOf(rc.ScoreUnbounded, c.ScoreUnboundedText)
	switch {
	case rc.Status == verdict.Success:
		r.Status = batch.Success
	case rc.Status == verdict.TimedOut:
		r.Status = batch.Timeout
	case rc.Status == verdict.Error:
		r.Status = batch.Error
		if c.Class == verdict.NoSubmission {
			r.Unbounded, r.Message = nil, "Generation failed: "+r.Message
		}
	case rc.Status == verdict.Skipped:
		r.Status = batch.Pending
		if c.InfrastructureFailure {
			r.Status = batch.Skipped
		}
	default:
		r.Status, r.Message = batch.Pending, "broken: "+r.Message
	}
	var err error
	r.SolutionHash, r.ProblemHash, err = hashes.hashesOf(cell.Solution, batch.Second)
	return r, err
}

// scoreOf returns the number in text, which can be NaN or infinite, or score if text is not a number.
func scoreOf(score *float64, text string) *float64 {
	if f, err := strconv.ParseFloat(text, 64); text != "" && err == nil {
		return &f
	}
	return score
}
