package pytest

import (
	"context"
	_ "embed"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/tasks/separate"
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// importPlugin starts the process of the submission's modules from pytest.
//
//go:embed fevalgraph_import.py
var importPlugin []byte

const importPluginName = "fevalgraph_import"

// Separate returns the modules of a submission for tests in a directory of the workspace. They
// can read the named parts of the workspace. Programs are also confined if programs is set.
func Separate(directory string, reads []string, programs bool) *separate.Modules {
	return &separate.Modules{Reads: reads, Programs: programs, Own: []string{directory, pluginDir}}
}

// imports returns how tests run the submission: see verdict.Measurements.
func (r *Run) imports(ctx context.Context, w *graph.Work) (string, error) {
	switch {
	case r.Separate != nil:
		return verdict.ImportSeparate, nil
	case r.Direct:
		return verdict.ImportInProcess, nil
	}
	tests, _ := w.Input("tests", "tree")
	file := r.entryFile()
	if r.Search == nil || file == "" {
		return "", nil
	}
	found, err := r.Search.Imports(ctx, w.Store, tests, file)
	if err != nil || !found {
		return "", err
	}
	return verdict.ImportInProcess, nil
}

// entryFile returns the last word of the entry, such as main.py, or "".
func (r *Run) entryFile() string {
	words := strings.Fields(r.Entry)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// importable reports whether tests can import modules of the submission by their names.
func (r *Run) importable() bool { return r.Separate != nil || r.Direct }

// importReadOnly lists the files that programs of the tests cannot change: the code that
// confines the submission's process.
func (r *Run) importReadOnly() []string {
	if r.Separate == nil {
		return nil
	}
	return []string{separate.Runtime}
}

// environment prepares the session for the tests, and returns their variables.
func (r *Run) environment(ctx context.Context, s *session.Session) ([]string, error) {
	env := r.environ(s.Dir(), r.Env.Variables())
	if r.Separate == nil {
		return env, nil
	}
	more, err := r.Separate.Begin(ctx, s, r.Env)
	return append(env, more...), err
}

// afterImports returns the output of the submission's modules. A message that their process could not be
// confined counts only if pytest did not begin, since tests can start other processes that leave
// such a message.
func (r *Run) afterImports(ctx context.Context, s *session.Session, key proof.Key) ([]byte, error) {
	if r.Separate == nil {
		return nil, nil
	}
	switch begun, err := keyTaken(ctx, s, key); {
	case err != nil:
		return nil, err
	case !begun:
		return nil, r.Separate.Usable(ctx, s, nil)
	}
	printed := &capped.Buffer{}
	masked := backend.Redact(printed, r.Env.Masked())
	err := r.Separate.Printed(ctx, s, masked)
	masked.Close()
	return printed.Bytes(), err
}
