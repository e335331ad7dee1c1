package validate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// scripts are extensions of files that an entry starts as they are.
var scripts = []string{".py", ".js", ".mjs", ".ts", ".sh", ".rb", ".pl", ".php", ".lua", ".R", ".jl"}

// noEntryFile warns about solutions that lack the file which their entry starts. Set-up commands can create
// it.
func noEntryFile(cfg *lang.Config) (found diag.List) {
	for _, b := range cfg.Backends {
		if len(b.Setup) > 0 {
			return nil
		}
	}
	for _, s := range cfg.Solutions {
		if s.Problem.Pytest == nil {
			continue
		}
		var without []string
		file, beside := "", ""
		for _, answer := range s.Checkpoints {
			name := scriptOf(answer.Entry)
			if name == "" || answer.Source == "" || answer.Missing || answer.Parts != nil || len(answer.Setup) > 0 || answer.Unusable+answer.Refused != "" {
				continue
			}
			info, err := os.Stat(answer.Source)
			if err != nil || !info.IsDir() {
				continue
			}
			if _, err := os.Stat(filepath.Join(answer.Source, name)); errors.Is(err, fs.ErrNotExist) {
				file, without = name, append(without, answer.Checkpoint.Name)
				beside = sameKind(answer.Source, path.Ext(name))
			}
		}
		if len(without) == 0 {
			continue
		}
		d := diag.Diagnostic{
			Severity: diag.Warning, Code: "no-entry-file", Summary: "No file for the entry", Range: &s.Range, Context: s.Ref,
			Detail: fmt.Sprintf("The entry starts %q, which %s lacks for checkpoint %s.", file, s.Ref, text.Some(without, 3)),
		}
		if beside != "" {
			d.Hint = beside + " exists"
		}
		found = append(found, d)
	}
	return found
}

// scriptOf returns the first word of a command that names a script in the solution.
func scriptOf(entry string) string {
	for _, word := range strings.Fields(entry) {
		if slices.Contains(scripts, path.Ext(word)) && filepath.IsLocal(word) && !strings.ContainsAny(word, `'"$`+"`") {
			return word
		}
	}
	return ""
}

// sameKind lists files of a directory with an extension.
func sameKind(dir, ext string) string {
	var names []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if path.Ext(e.Name()) == ext {
			names = append(names, e.Name())
		}
	}
	return text.Some(names, 3)
}
