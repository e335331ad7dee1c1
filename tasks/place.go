package tasks

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// From is the name of a Place's dependency.
const From = "output"

// Place is the task that selects and moves files in the output tree of another node: for an
// asset, the tests of a checkpoint, or a submission. The other tasks of this package do the same
// for source files. Its output is TreeOutput.
type Place struct {
	Output string // of the dependency From: a tree
	Target string // path of the file or directory in the result; "" means the top
	File   bool   // the tree is a single file
	Any    bool   // the tree has a single entry: a file or directory to place
	Ignore []string
	Syntax string // of Ignore: "doublestar" or "fnmatch"
	Plain  bool   // as of Submission
	Tests  *Tests // nil places everything; Root is ignored
	// Shared reports that cells of any solution use it, so a refused submission among its inputs must
	// not decide their verdicts.
	Shared bool
}

// Describe implements graph.Task.
func (p *Place) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 1)
	m.String("target", p.Target)
	m.Bool("file", p.File)
	if p.Any {
		m.Bool("any", true)
	}
	m.Strings("ignore", p.Ignore)
	m.String("syntax", p.Syntax)
	m.Bool("plain", p.Plain)
	if p.Tests != nil {
		m.Strings("tests", p.Tests.Files)
		m.Bool("tests may lack", p.Tests.MayLack)
	}
	return nil
}

// Run implements graph.Task.
func (p *Place) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	root, ok := w.Input(From, p.Output)
	if !ok {
		return graph.Outcome{}, fmt.Errorf("dependency %q has no output %q", From, p.Output)
	}
	found, err := p.entries(ctx, w.Store, root)
	if err != nil {
		return graph.Outcome{}, err
	}
	tree, err := cache.BuildTree(found)
	if err != nil {
		return graph.Outcome{}, err
	}
	if err := tree.Store(ctx, w.Store); err != nil {
		return graph.Outcome{}, fmt.Errorf("storing directories: %w", err)
	}
	return graph.Outcome{Outputs: []cache.Output{{Name: TreeOutput, Digest: tree.Root, Tree: true}}}, nil
}

// Refused implements graph.Refuser.
func (p *Place) Refused(ctx context.Context, w *graph.Work, why string) (graph.Outcome, error) {
	if p.Shared {
		return graph.Outcome{}, fmt.Errorf("the task that makes it has a refused solution as an input: %s", why)
	}
	return session.Refuse(ctx, w.Store, why)
}

// entries returns the selected entries of a tree, with their paths in the result.
func (p *Place) entries(ctx context.Context, store cache.Store, root cache.Digest) ([]cache.Entry, error) {
	ignore := Doublestar(p.Ignore)
	if p.Syntax == "fnmatch" {
		ignore = Fnmatch(p.Ignore)
	}
	var missing []string
	if p.Tests != nil {
		missing = slices.Clone(p.Tests.Files)
	}
	var found []cache.Entry
	file, within := p.File, "" // with Any, the directory
	err := cache.WalkTree(ctx, store, root, func(e cache.Entry) error {
		if p.Any {
			if within == "" {
				if file = !e.Dir; e.Dir {
					within = e.Path + "/"
					return nil
				}
			} else {
				e.Path = strings.TrimPrefix(e.Path, within)
			}
		}
		// Files are not read here, but a missing file must be produced again: the stored tree would lack
		// it, too.
		if has, err := e.Dir || e.Link != "", error(nil); !has {
			if has, err = store.Has(ctx, e.Digest); err == nil && !has {
				err = &cache.MissingError{Digest: e.Digest}
			}
			if err != nil {
				return err
			}
		}
		if file && p.Target != "" {
			e.Path = p.Target
			found = append(found, e)
			return nil
		}
		switch {
		case ignore.leavesOut(e.Path, e.Dir), p.Plain && (e.Dir || e.Link != ""):
			return nil
		case p.Tests != nil && isTestFile(e.Path) && !slices.Contains(p.Tests.Files, e.Path):
			return nil
		}
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == e.Path })
		e.Executable = e.Executable && !p.Plain
		e.Path = path.Join(p.Target, e.Path)
		found = append(found, e)
		return nil
	})
	if err == nil && len(missing) > 0 && !p.Tests.MayLack {
		err = &graph.InputError{Err: fmt.Errorf("the task does not create the test file %s", missing[0])}
	}
	return found, err
}
