package scbench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/compat/outdir"
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
// run's.
func Write(dir string, problems []Problem) error {
	for _, p := range problems {
		if p.Invalid {
			if err := removeCheckpoints(filepath.Join(dir, p.Path)); err != nil {
				return fmt.Errorf("removing earlier results of %s: %w", p.Name, err)
			}
		}
		for _, c := range p.Checkpoints {
			if err := writeCheckpoint(filepath.Join(dir, p.Path, c.Result.Name), c); err != nil {
				return fmt.Errorf("writing %s of %s: %w", c.Result.Name, p.Name, err)
			}
		}
	}
	rows, err := Rows(problems)
	if err != nil {
		return err
	}
	if err := outdir.Write(filepath.Join(dir, "checkpoint_results.jsonl"), rows); err != nil {
		return err
	}
	result, err := Summary(problems)
	if err != nil {
		return err
	}
	return outdir.Write(filepath.Join(dir, "result.json"), result)
}

func writeCheckpoint(dir string, c *Checkpoint) error {
	if !c.judged() {
		return removeCheckpoint(dir)
	}
	evaluation, err := Evaluation(c)
	if err != nil {
		return err
	}
	reportPath := filepath.Join(dir, "evaluation", "report.json")
	if c.Report == nil {
		if err := outdir.Remove(reportPath); err != nil {
			return err
		}
	} else if err := outdir.Write(reportPath, c.Report); err != nil {
		return err
	}
	if err := outdir.Write(filepath.Join(dir, "evaluation", "stdout.txt"), c.Log); err != nil {
		return err
	}
	if err := outdir.Write(filepath.Join(dir, "evaluation", "stderr.txt"), nil); err != nil {
		return err
	}
	// Last: who finds it may rely on the others.
	return outdir.Write(filepath.Join(dir, "evaluation.json"), evaluation)
}

// removeCheckpoints removes the files of every checkpoint below a problem's
// directory: of an invalid problem their names are not known.
func removeCheckpoints(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeCheckpoint(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeCheckpoint removes the files of a checkpoint and nothing else.
func removeCheckpoint(dir string) error {
	for _, name := range []string{"evaluation.json", "evaluation/report.json", "evaluation/stdout.txt", "evaluation/stderr.txt"} {
		if err := outdir.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}
