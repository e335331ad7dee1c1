package validate

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// inProcess warns about problems whose tests or grader import the submission: it then runs
// in the process that judges it, where it can change anything. Statements count that name
// the submission's file, or that load a file whose name they are given: that is what can be
// seen without running anything.
func inProcess(cfg *lang.Config) diag.List {
	var where, names []string
	for _, p := range cfg.Problems {
		root, module := "", ""
		switch {
		case p.Command != nil:
			root, module = p.Command.Root, p.Command.Solution
		case p.Pytest != nil:
			words := strings.Fields(p.Entry)
			if len(words) > 0 {
				root, module = p.Pytest.Root, words[len(words)-1]
			}
		}
		if path.Ext(module) != ".py" {
			continue
		}
		if place := importOf(root, strings.TrimSuffix(path.Base(module), ".py")); place != "" {
			names, where = append(names, p.Name), append(where, strings.TrimPrefix(place, cfg.Root+string(filepath.Separator)))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return diag.List{{
		Severity: diag.Warning, Code: "same-process", Summary: "The submission runs in the process that judges it",
		Detail: fmt.Sprintf("%s, %s: it can change its own score there. See %s.", text.Count(len(names), "problem"), text.Some(names, 3), text.Some(where, 2)),
		Hint:   "start the submission as a program and read what it prints, as problems/common/ask.py of examples/research does",
	}}
}

// maxGraderFile bounds what is read of a file, in bytes.
const maxGraderFile = 1 << 20

// importOf finds the first statement below root that imports a module, as file:line; ""
// is none. Files that cannot be read import nothing here.
func importOf(root, module string) (place string) {
	quoted := regexp.QuoteMeta(module)
	statement := regexp.MustCompile(`(?m)^[ \t]*(?:from|import)\s+(?:\w+\.)*` + quoted + `\b|^[ \t]*from\s+[\w.]+\s+import\b.*\b` + quoted + `\b|(?:import_module|__import__)\(\s*["'](?:\w+\.)*` + quoted + `["']|\b(?:spec_from_file_location|run_path)\(`)
	_ = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(file) != ".py" || strings.TrimSuffix(d.Name(), ".py") == module {
			return nil
		}
		content, err := readStart(file)
		if err != nil {
			return nil
		}
		if at := statement.FindIndex(content); at != nil {
			place = fmt.Sprintf("%s:%d", file, 1+bytes.Count(content[:at[0]], []byte("\n")))
			return fs.SkipAll
		}
		return nil
	})
	return place
}

func readStart(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxGraderFile))
}
