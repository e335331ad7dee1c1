package validate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// gaps warns about suites without anything to judge, and about selected checkpoints without a submission. It
// ignores invalid configurations, and without a suite those with references, which are not in it, or of tasks
// alone.
func gaps(cfg *lang.Config, imports *Imports) (found diag.List) {
	if cfg == nil {
		return nil
	}
	found = slices.Concat(noDirectories(cfg), shortSecrets(cfg), inProcess(cfg, imports), noEntryFile(cfg))
	for _, s := range cfg.Suites {
		missing, all := 0, 0
		for _, cell := range s.Cells {
			for _, answer := range cell.Solution.Checkpoints {
				if cell.Solution.Omits(answer) {
					continue
				}
				all++
				if answer.Missing {
					missing++
				}
			}
		}
		d := diag.Diagnostic{Severity: diag.Warning}
		switch {
		case all == 0 && s.Implicit && (ShipsReference(cfg) || len(cfg.Problems) == 0 && len(cfg.Tasks) > 0):
			continue
		case all == 0:
			d.Code, d.Summary = "no-cells", "Nothing to judge"
			d.Detail = fmt.Sprintf("The suite %q has no solution on any backend, so a run has no verdict.", s.Name)
			d.Hint = "solutions are solution blocks; a suite without a matrix has all of them, on every backend"
		case missing > 0:
			d.Code, d.Summary = "no-submission", "Checkpoints without a submission"
			d.Detail = fmt.Sprintf("In the suite %q, %d of %s. Without one a checkpoint counts as not solved.", s.Name, missing, text.Count(all, "checkpoint"))
			d.Hint = "a source that should be there may be misspelled; missing = \"omit\" omits checkpoints without files"
		default:
			continue
		}
		if !s.Implicit {
			d.Range, d.Context = &s.Range, fmt.Sprintf("suite %q", s.Name)
		}
		found = append(found, d)
	}
	return found
}

// noDirectories warns about solutions without any files because their directory is missing, such as that of
// an agent's run.
func noDirectories(cfg *lang.Config) (found diag.List) {
	seen := map[string]bool{}
	for _, s := range cfg.Solutions {
		dir := ""
		for i, answer := range s.Checkpoints {
			if !answer.Missing {
				dir = ""
				break
			}
			if i == 0 {
				dir = filepath.Dir(answer.Source)
			}
			for dir != filepath.Dir(dir) && !subpath.Contains(dir, answer.Source) {
				dir = filepath.Dir(dir)
			}
		}
		if dir == "" || seen[dir] {
			continue
		}
		seen[dir] = true
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		name, err := filepath.Rel(cfg.Root, dir)
		if err != nil {
			name = dir
		}
		d := diag.Diagnostic{Severity: diag.Warning, Code: "no-directory", Summary: "Directory of a solution not found",
			Detail: fmt.Sprintf("%q not found, so no checkpoint of solution %q on problem %q has a submission.", name, s.Name, s.Problem.Name),
			Range:  &s.Range, Context: s.Ref}
		if _, err := os.Stat(name); err == nil && !filepath.IsAbs(name) {
			d.Hint = "it exists in the current directory, but paths are relative to the file that contains them, even in a --var; pass an absolute path"
		}
		found = append(found, d)
	}
	return found
}

// shortSecrets warns about secrets that are not masked, because that would betray them.
func shortSecrets(cfg *lang.Config) (found diag.List) {
	for i := range cfg.Secrets {
		s := &cfg.Secrets[i]
		if n := len(s.Value); n > 0 && n < backend.MinSecret {
			found = append(found, diag.Diagnostic{
				Severity: diag.Warning, Code: "short-secret", Summary: "Secret too short to mask",
				Detail: fmt.Sprintf("The value of the secret %q has %s. It is visible in logs and results.", s.Name, text.Count(n, "byte")),
				Hint:   fmt.Sprintf("use one of at least %d bytes", backend.MinSecret),
				Range:  &s.Range, Context: fmt.Sprintf("secret %q", s.Name),
			})
		}
	}
	return found
}
