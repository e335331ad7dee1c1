package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testName is a test as the page names it: its directory, its function and,
// where a case of a table or a script matters, that.
var testName = regexp.MustCompile("`([a-z/]+)\\.(Test[A-Za-z0-9]+)(?:/([a-z_]+))?`")

// The page of easy mistakes has thirty rows, each with existing tests: renaming a test requires an edit there.
func TestEasyMistakes(t *testing.T) {
	rows := 0
	for _, line := range readPage(t, "../compat/scbench/MISTAKES.md").lines {
		columns := strings.Split(line, " | ")
		if len(columns) != 4 || !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| | ") || strings.HasPrefix(line, "| ---") {
			continue
		}
		rows++
		if want := fmt.Sprintf("| %d", rows); columns[0] != want {
			t.Errorf("row %d begins with %q", rows, columns[0])
		}
		named := testName.FindAllStringSubmatch(columns[3], -1)
		if len(named) == 0 || len(named) != strings.Count(columns[3], "`")/2 {
			t.Errorf("row %d names %d tests in %s", rows, len(named), columns[3])
		}
		for _, name := range named {
			if err := findTest(filepath.Join("..", filepath.FromSlash(name[1])), name[2], name[3]); err != nil {
				t.Errorf("row %d: %v", rows, err)
			}
		}
	}
	if rows != 30 {
		t.Errorf("the page has %d rows", rows)
	}
}

// findTest looks for a test function in a package and, unless it is empty, for
// a file of testdata that has the name of its case.
func findTest(dir, function, name string) error {
	sources, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return err
	}
	found := false
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		found = found || strings.Contains(string(text), "\nfunc "+function+"(t *testing.T) {")
	}
	if !found {
		return fmt.Errorf("%s: test %s not found", dir, function)
	}
	if name == "" {
		return nil
	}
	scripts, err := filepath.Glob(filepath.Join(dir, "testdata", "*", name+".txtar"))
	if err != nil {
		return err
	}
	deeper, err := filepath.Glob(filepath.Join(dir, "testdata", "*", "*", name+".txtar"))
	if err != nil {
		return err
	}
	if len(scripts)+len(deeper) == 0 {
		return fmt.Errorf("%s: case %s for %s not found", dir, name, function)
	}
	return nil
}
