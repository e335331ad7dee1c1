package scbench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/compat/outdir"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Write writes the files of one run of SlopCodeBench into dir:
//
//	<problem>/<checkpoint>/evaluation.json
//	<problem>/<checkpoint>/evaluation/{stdout.txt,stderr.txt,report.json}
//	checkpoint_results.jsonl
//	result.json
//
// Every file appears whole. A report.json of an earlier run is removed where
// there is no report now, and all files of a checkpoint that was not judged
// now, and of every checkpoint of an invalid problem: they would pass for this
// run's. All of these files are artifacts.
func Write(dir string, problems []Problem) ([]plan.Artifact, error) {
	w := &writer{}
	err := w.run(dir, problems)
	return w.Artifacts, err
}

type writer struct{ outdir.Writer }

func (w *writer) run(dir string, problems []Problem) error {
	for _, p := range problems {
		if p.Invalid {
			if err := w.removeCheckpoints(filepath.Join(dir, p.Path)); err != nil {
				return fmt.Errorf("removing earlier results of %s: %w", p.Name, err)
			}
		}
		for _, c := range p.Checkpoints {
			if err := w.checkpoint(filepath.Join(dir, p.Path, c.Result.Name), c); err != nil {
				return fmt.Errorf("writing %s of %s: %w", c.Result.Name, p.Name, err)
			}
		}
	}
	rows, err := Rows(problems)
	if err != nil {
		return err
	}
	if err := w.Write(filepath.Join(dir, "checkpoint_results.jsonl"), rows); err != nil {
		return err
	}
	result, err := Summary(problems)
	if err != nil {
		return err
	}
	return w.Write(filepath.Join(dir, "result.json"), result)
}

func (w *writer) checkpoint(dir string, c *Checkpoint) error {
	if !c.judged() {
		return w.removeCheckpoint(dir)
	}
	evaluation, err := Evaluation(c)
	if err != nil {
		return err
	}
	reportPath := filepath.Join(dir, "evaluation", "report.json")
	if c.Report == nil {
		if err := w.Remove(reportPath); err != nil {
			return err
		}
	} else if err := w.Write(reportPath, c.Report); err != nil {
		return err
	}
	if err := w.Write(filepath.Join(dir, "evaluation", "stdout.txt"), c.Log); err != nil {
		return err
	}
	if err := w.Write(filepath.Join(dir, "evaluation", "stderr.txt"), nil); err != nil {
		return err
	}
	// Last: who finds it may rely on the others.
	return w.Write(filepath.Join(dir, "evaluation.json"), evaluation)
}

// removeCheckpoints removes the files of every checkpoint below a problem's
// directory: of an invalid problem their names are not known.
func (w *writer) removeCheckpoints(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := w.removeCheckpoint(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeCheckpoint removes the files of a checkpoint and nothing else.
func (w *writer) removeCheckpoint(dir string) error {
	for _, name := range []string{"evaluation.json", "evaluation/report.json", "evaluation/stdout.txt", "evaluation/stderr.txt"} {
		if err := w.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}
