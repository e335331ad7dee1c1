package compat

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var mention = regexp.MustCompile(`(?i)scbench|slopcode|frontier`)

// allowed can name benchmarks: in lang, they are values of the language, with documentation; all others except compat
// are not part of the program.
var allowed = []string{"compat/", "lang/schema_", "bench/", "examples/", "docs/", ".tools/"}

// Code of the program names no benchmark outside of this folder, but for the
// packages below it that it imports.
func TestNoOtherCodeNamesBenchmark(t *testing.T) {
	files := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		for _, prefix := range allowed {
			if strings.HasPrefix(name+"/", prefix) || strings.HasPrefix(name, prefix) {
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		files++
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(content), "\n") {
			if mention.MatchString(line) && !strings.Contains(line, `"github.com/fevalgraph/fevalgraph/compat/`) {
				t.Errorf("%s:%d: %s", name, i+1, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil || files < 200 {
		t.Fatalf("%d files, %v", files, err)
	}
}
