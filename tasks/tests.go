package tasks

import (
	"fmt"
	"path"
	"slices"
)

// testLeavings match what running pytest in place leaves in a test directory.
var testLeavings = []string{"**/__pycache__/**", "**/*.pyc", "**/.pytest_cache/**"}

// TestLeavings returns patterns of what running pytest in place leaves in a test directory.
func TestLeavings() []string { return slices.Clone(testLeavings) }

// Tests says which tests a checkpoint gets: of the files directly in Root that
// pytest would collect by their names test_*.py, only those in Files;
// everything else (conftest.py, helpers, data) always.
type Tests struct {
	Root    string   // absolute path of a directory
	Files   []string // relative to Root, with slashes
	MayLack bool     // missing files are not an error
}

// NewTests returns the task that brings the tests of a checkpoint into the
// store.
func NewTests(t Tests, sources Sources) *Source {
	return &Source{sources: sources, scan: func() ([]file, error) {
		at := t
		at.Root = sources.at(t.Root)
		return at.scan(sources.observe)
	}}
}

func (t Tests) scan(observe observer) ([]file, error) {
	found, err := scanTree(t.Root, Doublestar(testLeavings), observe)
	if err != nil {
		return nil, err
	}
	missing := slices.Clone(t.Files)
	found = slices.DeleteFunc(found, func(f file) bool {
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == f.Path })
		return isTestFile(f.Path) && !slices.Contains(t.Files, f.Path)
	})
	if len(missing) > 0 && !t.MayLack {
		// They were there when the configuration was read.
		return nil, fmt.Errorf("the test file %s is not in %s any more", missing[0], t.Root)
	}
	return found, nil
}

func isTestFile(name string) bool {
	ok, err := path.Match("test_*.py", name)
	return err == nil && ok
}
