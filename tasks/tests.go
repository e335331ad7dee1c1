package tasks

import (
	"path"
	"slices"
)

// testLeavings are what running pytest in place leaves in a test directory.
var testLeavings = []string{"**/__pycache__/**", "**/*.pyc", "**/.pytest_cache/**"}

// NewTests returns the task that copies the tests for one checkpoint: of the
// files directly in root that pytest would collect by their names test_*.py,
// only those in files; everything else (conftest.py, helpers, data) always.
func NewTests(root string, files []string, sources Sources) *Source {
	return &Source{sources: sources, scan: func() ([]file, error) {
		found, err := scanTree(root, Doublestar(testLeavings))
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(found, func(f file) bool {
			return isTestFile(f.Path) && !slices.Contains(files, f.Path)
		}), nil
	}}
}

func isTestFile(name string) bool {
	ok, err := path.Match("test_*.py", name)
	return err == nil && ok
}
