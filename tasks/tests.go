package tasks

import (
	"fmt"
	"path"
	"slices"
)

// testLeavings are patterns for files that pytest creates in a test directory.
var testLeavings = []string{"**/__pycache__/**", "**/*.pyc", "**/.pytest_cache/**"}

// TestLeavings returns patterns for files that pytest creates in a test directory.
func TestLeavings() []string { return slices.Clone(testLeavings) }

// Tests selects the tests of a checkpoint: of the files test_*.py directly in
// Root, only those in Files; all other files (conftest.py, helpers, data) are
// always included.
type Tests struct {
	Root    string   // absolute path of a directory
	Files   []string // relative to Root, with slashes
	MayLack bool     // missing files are not an error
}

// NewTests returns the task that stores the tests of a checkpoint.
func NewTests(t Tests, sources Sources) *Source {
	return &Source{sources: sources, scan: func() ([]file, error) { return t.scan(sources.observe) }}
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
		// They existed when the configuration was read.
		return nil, fmt.Errorf("the test file %s is no longer in %s", missing[0], t.Root)
	}
	return found, nil
}

func isTestFile(name string) bool {
	ok, err := path.Match("test_*.py", name)
	return err == nil && ok
}
