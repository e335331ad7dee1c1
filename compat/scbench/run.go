package scbench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
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
	return w.artifacts, err
}

// writer writes and removes files and lists them.
type writer struct{ artifacts []plan.Artifact }

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
	if err := w.write(filepath.Join(dir, "checkpoint_results.jsonl"), rows); err != nil {
		return err
	}
	result, err := Summary(problems)
	if err != nil {
		return err
	}
	return w.write(filepath.Join(dir, "result.json"), result)
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
		if err := w.remove(reportPath); err != nil {
			return err
		}
	} else if err := w.write(reportPath, c.Report); err != nil {
		return err
	}
	if err := w.write(filepath.Join(dir, "evaluation", "stdout.txt"), c.Log); err != nil {
		return err
	}
	if err := w.write(filepath.Join(dir, "evaluation", "stderr.txt"), nil); err != nil {
		return err
	}
	// Last: who finds it may rely on the others.
	return w.write(filepath.Join(dir, "evaluation.json"), evaluation)
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
		if err := w.remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}

// remove removes a file that need not be there.
func (w *writer) remove(path string) error {
	w.artifacts = append(w.artifacts, plan.Artifact{Path: path})
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// write leaves a file alone that has this content already: a run that found
// nothing to do should not sync hundreds of files either.
func (w *writer) write(path string, content []byte) error {
	w.artifacts = append(w.artifacts, plan.Artifact{Path: path, Digest: cache.SumBytes(content)})
	if same(path, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.WriteDurable(path, 0o644, content)
}

func same(path string, content []byte) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(content)) {
		return false
	}
	old, err := os.ReadFile(path)
	return err == nil && bytes.Equal(old, content)
}
