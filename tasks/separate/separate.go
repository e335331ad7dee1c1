// Package separate keeps a submission's Python modules out of the process that grades them.
//
// In a workspace, each module of the submission is replaced by a stand-in, which the grader
// imports like the module. The first stand-in starts another Python process, which loads the real
// modules and cannot access the grader's files and processes; calls, values and exceptions are
// passed between the two. The Python package in fevalgraph_separate implements that. This package
// determines the contents of the workspace, and which modules a grader's files import.
package separate

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

//go:embed fevalgraph_separate/*.py standin.py.tmpl
var files embed.FS

// Paths in a workspace that belong neither to the problem nor to the submission.
const (
	directory  = ".separate"
	submission = directory + "/submission"
	started    = directory + "/started"
	unusable   = directory + "/unusable"
	confined   = directory + "/confined"
	printed    = directory + "/log"
)

// Runtime is the directory of a workspace with the code that starts the process.
const Runtime = directory + "/fevalgraph_separate"

const template = "standin.py.tmpl"

// Modules makes the submission's modules in a workspace run in a separate process.
type Modules struct {
	Reads []string // files and directories of the workspace that the process can read
	// Own lists directories of the workspace with code of the grader. All other code in the workspace
	// belongs to the submission. If it is nil, code that existed when the grader began, and is not in
	// the submission, belongs to the grader.
	Own []string
	// Programs confines modules even if the grader starts them as programs.
	Programs bool
}

// Describe adds everything that can change how modules behave.
func (m *Modules) Describe(manifest *graph.Manifest) {
	manifest.String("import", "separate")
	manifest.Strings("import_reads", m.Reads)
	if m.Programs {
		manifest.String("programs", "confined")
	}
	if m.Own != nil {
		manifest.Strings("import own", m.Own)
	}
	for name, content := range sources() {
		manifest.String("import "+name, cache.SumBytes(content).String())
	}
}

// sources yields the files of this package that are put into a workspace.
func sources() func(yield func(string, []byte) bool) {
	return func(yield func(string, []byte) bool) {
		_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			content, err := files.ReadFile(name)
			if err == nil && !yield(name, content) {
				return fs.SkipAll
			}
			return err
		})
	}
}

// Inputs returns the inputs of a workspace instead of the tree of a submission.
func (m *Modules) Inputs(ctx context.Context, s cache.Store, tree cache.Digest) ([]backend.Input, error) {
	standIns, err := standIns(ctx, s, tree)
	if err != nil {
		return nil, fmt.Errorf("replacing the submission's modules: %w", err)
	}
	nothing, err := cache.PutBytes(ctx, s, nil) // the empty Directory
	if err != nil {
		return nil, fmt.Errorf("storing an empty directory: %w", err)
	}
	inputs := []backend.Input{{Path: ".", Tree: standIns}, {Path: directory, Tree: nothing, Replace: true}, {Path: submission, Tree: tree}}
	if m.Programs {
		inputs = append(inputs, backend.Input{Path: confined, Content: []byte(strings.Join(m.Reads, "\n"))})
	}
	return append(inputs, runtimeInputs()...), nil
}

func runtimeInputs() (inputs []backend.Input) {
	for name, content := range sources() {
		if name != template {
			inputs = append(inputs, backend.Input{Path: path.Join(directory, name), Content: content})
		}
	}
	return inputs
}

// standIns stores the tree that the grader sees of a submission: no code and no links, which
// could lead to code.
func standIns(ctx context.Context, s cache.Store, tree cache.Digest) (cache.Digest, error) {
	var seen []cache.Entry
	err := cache.WalkTree(ctx, s, tree, func(e cache.Entry) error {
		switch {
		case e.Path == directory || strings.HasPrefix(e.Path, directory+"/"):
			return nil
		case path.Ext(e.Path) == ".py" && !e.Dir:
			g, err := cache.PutBytes(ctx, s, standIn(e.Path))
			if err != nil {
				return fmt.Errorf("storing %s: %w", e.Path, err)
			}
			e = cache.Entry{Path: e.Path, Digest: g, Executable: e.Executable}
		case e.Link != "" || importable(e.Path) && !e.Dir:
			return nil
		}
		seen = append(seen, e)
		return nil
	})
	if err != nil {
		return cache.Digest{}, err
	}
	built, err := cache.BuildTree(seen)
	if err != nil {
		return cache.Digest{}, err
	}
	return built.Root, built.Store(ctx, s)
}

// importable reports whether Python can import a file other than a source.
func importable(name string) bool {
	switch path.Ext(name) {
	case ".pyc", ".pyo", ".pyd", ".so", ".pth", ".egg-link":
		return true
	}
	return false
}

// standIn returns the module that replaces a module of the submission.
func standIn(name string) []byte {
	runtime, err := filepath.Rel(path.Dir(name), directory)
	if err != nil {
		panic(err) // both are relative
	}
	content, err := files.ReadFile(template)
	if err != nil {
		panic(err)
	}
	return []byte(strings.NewReplacer("PATH", strconv.QuoteToASCII(name), "RUNTIME", strconv.QuoteToASCII(filepath.ToSlash(runtime))).Replace(string(content)))
}

// Workspace is the part of a backend.Session that is used here.
type Workspace interface {
	Dir() string
	Place(ctx context.Context, inputs ...backend.Input) error
	Collect(ctx context.Context, path string) (io.ReadCloser, error)
}

// Begin prepares a workspace for the grader, and returns variables for its environment. Python
// files that are written from now on are loaded like the submission's modules.
func (m *Modules) Begin(ctx context.Context, w Workspace, env session.Environment) ([]string, error) {
	if err := w.Place(ctx, backend.Input{Path: started, Content: []byte{}, Replace: true}); err != nil {
		return nil, fmt.Errorf("beginning the grader: %w", err)
	}
	var hidden []string
	for _, v := range env {
		if v.Secret != "" {
			hidden = append(hidden, v.Name)
		}
	}
	return []string{
		"FEVALGRAPH_SEPARATE=" + path.Join(w.Dir(), directory),
		"FEVALGRAPH_SEPARATE_READS=" + strings.Join(m.Reads, ":"),
		"FEVALGRAPH_SEPARATE_HIDES=" + strings.Join(hidden, ","),
		"FEVALGRAPH_SEPARATE_OWN=" + strings.Join(m.Own, ":"),
	}, nil
}

// Probe runs a program in a new workspace with inputs and without the submission.
type Probe func(ctx context.Context, inputs []backend.Input, argv []string) (backend.Exit, error)

// Usable returns an error if the submission's process could not be isolated from the grader, and
// so was not started. Programs of the submission can leave the same message, so probe decides; if
// probe is nil, no program can have run.
func (m *Modules) Usable(ctx context.Context, w Workspace, probe Probe) error {
	const most = 4 << 10
	why, err := collect(ctx, w, unusable, most)
	if err == nil && len(why) > 0 && probe != nil {
		var exit backend.Exit
		if exit, err = probe(ctx, runtimeInputs(), []string{"python3", "-I", Runtime + "/process.py", "--probe"}); exit.Code == 0 && exit.Signal == "" && !exit.TimedOut {
			why = nil
		}
	}
	switch {
	case err != nil:
		return err
	case len(why) > 0:
		return fmt.Errorf(`import = "separate": this machine cannot keep the submission's process from the grader's (%s); judge it on a machine that can, or accept import = "direct"`, why)
	}
	return nil
}

// Printed writes what the submission printed to out.
func (m *Modules) Printed(ctx context.Context, w Workspace, out io.Writer) error {
	f, err := w.Collect(ctx, printed)
	if err != nil {
		return missing(err)
	}
	defer f.Close()
	if _, err := io.Copy(out, io.LimitReader(f, maxPrinted)); err != nil {
		return fmt.Errorf("fetching the output of the submission: %w", err)
	}
	return nil
}

const maxPrinted = 64 << 20

func collect(ctx context.Context, w Workspace, name string, most int64) ([]byte, error) {
	f, err := w.Collect(ctx, name)
	if err != nil {
		return nil, missing(err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", name, err)
	}
	return content, nil
}

// missing returns nil if err means that a file is missing.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("fetching the files of the submission's process: %w", err)
}
