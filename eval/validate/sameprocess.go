package validate

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/tasks/separate"
)

// inProcess warns about problems whose tests or grader import the submission: it then runs in the process
// that judges it, where it can change anything. It looks for statements that name the submission's file,
// or that load a file with a given name. Other imports cannot be detected without running the code.
func inProcess(cfg *lang.Config, imports *Imports) diag.List {
	var where, names []string
	known := imports.places
	imports.places = map[imported]string{}
	for _, p := range cfg.Problems {
		root, module := "", ""
		switch {
		case p.Command != nil && p.Command.Import == lang.ImportSeparate:
		case p.Command != nil:
			root, module = p.Command.Root, p.Command.Solution
		case p.Pytest != nil && p.Pytest.Import == lang.ImportSeparate:
		case p.Pytest != nil:
			words := strings.Fields(p.Entry)
			if len(words) > 0 {
				root, module = p.Pytest.Root, words[len(words)-1]
			}
		}
		if path.Ext(module) != ".py" {
			continue
		}
		wanted := imported{root, strings.TrimSuffix(path.Base(module), ".py")}
		if _, seen := imports.places[wanted]; !seen {
			place, searched := known[wanted]
			if !searched {
				place = imports.find(wanted)
			}
			imports.places[wanted] = place
		}
		if place := imports.places[wanted]; place != "" {
			names, where = append(names, p.Name), append(where, strings.TrimPrefix(place, cfg.Root+string(filepath.Separator)))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return diag.List{{
		Severity: diag.Warning, Code: "same-process", Summary: "The submission runs in the process that judges it",
		Detail: fmt.Sprintf("%s, %s: it can change its own score there. See %s.", text.Count(len(names), "problem"), text.Some(names, 3), text.Some(where, 2)),
		Hint:   "write import = \"separate\" in its command or pytest block, with which tests also find its modules; or start the submission as a program and read what it prints",
	}}
}

// Imports caches the imports of graders between calls, so that unchanged files are not searched again. It
// must be used by one goroutine at a time.
type Imports struct {
	places    map[imported]string // results of find, with the arguments of the last call
	module    string              // that statement is about
	statement *separate.Statement
}

// imported is a module that files below a directory can import.
type imported struct{ root, module string }

func (i *Imports) statementOf(module string) *separate.Statement {
	if i.statement == nil || i.module != module {
		i.module, i.statement = module, separate.NewStatement(module)
	}
	return i.statement
}

// find returns the first statement that imports a module, as file:line, or "". It skips unreadable files.
func (i *Imports) find(wanted imported) (place string) {
	_ = filepath.WalkDir(wanted.root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(file) != ".py" || strings.TrimSuffix(d.Name(), ".py") == wanted.module {
			return nil
		}
		content, err := readStart(file)
		if err != nil {
			return nil
		}
		if line := i.statementOf(wanted.module).Line(content); line > 0 {
			place = fmt.Sprintf("%s:%d", file, line)
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
	return io.ReadAll(io.LimitReader(f, separate.MaxSource))
}
