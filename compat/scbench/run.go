package scbench

import (
	"fmt"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/compat/outdir"
)

// Write writes the files of one run of SlopCodeBench into dir, which is out or below it:
//
//	<problem>/<checkpoint>/evaluation.json
//	<problem>/<checkpoint>/evaluation/{stdout.txt,stderr.txt,report.json}
//	checkpoint_results.jsonl
//	result.json
//
// Every file appears whole. A checkpoint that was not judged has none.
func Write(out *outdir.Dir, dir string, problems []Problem) error {
	for _, p := range problems {
		for _, c := range p.Checkpoints {
			if err := writeCheckpoint(out, filepath.Join(dir, p.Path, c.Result.Name), c); err != nil {
				return fmt.Errorf("writing %s of %s: %w", c.Result.Name, p.Name, err)
			}
		}
	}
	rows, err := Rows(problems)
	if err != nil {
		return err
	}
	if err := out.Write(filepath.Join(dir, "checkpoint_results.jsonl"), rows); err != nil {
		return err
	}
	result, err := Summary(problems)
	if err != nil {
		return err
	}
	return out.Write(filepath.Join(dir, "result.json"), result)
}

func writeCheckpoint(out *outdir.Dir, dir string, c *Checkpoint) error {
	if !c.judged() {
		return nil
	}
	evaluation, err := Evaluation(c)
	if err != nil {
		return err
	}
	if c.Report != nil {
		err = out.Write(filepath.Join(dir, "evaluation", "report.json"), c.Report)
	}
	if err == nil {
		err = out.Write(filepath.Join(dir, "evaluation", "stdout.txt"), c.Log)
	}
	if err == nil {
		err = out.Write(filepath.Join(dir, "evaluation", "stderr.txt"), nil)
	}
	if err != nil {
		return err
	}
	// Last: a reader that finds it can rely on the others.
	return out.Write(filepath.Join(dir, "evaluation.json"), evaluation)
}
