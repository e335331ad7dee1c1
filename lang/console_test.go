package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConsole runs the file "input" of every case line by line: "> " precedes an expression, followed by the console's
// answer.
func TestConsole(t *testing.T) {
	for _, file := range cases(t, "testdata/console") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, o := readCase(t, file)
			c, list := NewConsole(o)
			if c == nil {
				t.Fatal(diagText(list, o.Dir))
			}
			var got strings.Builder
			for _, f := range archive.Files {
				if f.Name != "input" {
					continue
				}
				for line := range strings.Lines(string(f.Data)) {
					line = strings.TrimSuffix(line, "\n")
					out, list := c.Eval(line)
					got.WriteString("> " + line + "\n" + diagText(list, o.Dir))
					if !list.HasErrors() {
						got.WriteString(strings.ReplaceAll(out, o.Dir, "$DIR") + "\n")
					}
				}
			}
			compare(t, file, archive, got.String())
		})
	}
}

func TestConsoleNeedsFiles(t *testing.T) {
	c, list := NewConsole(Options{Inputs: Inputs{Dir: t.TempDir()}})
	if c != nil || !list.HasErrors() {
		t.Errorf("got %v, %v", c, list)
	}
}

// Operators have a result or an error for users, for every pair of numbers.
func TestNoOperatorPanics(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, MainFile), []byte("locals {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, list := NewConsole(Options{Inputs: Inputs{Dir: dir}})
	if list.HasErrors() {
		t.Fatal(diagText(list, dir))
	}
	eval := func(expression string) {
		_, list := c.Eval(expression)
		for _, d := range list {
			if strings.Contains(d.Detail, "panic") || strings.Contains(d.Detail, "runtime error") || d.Range.Start.Line != 1 {
				t.Errorf("%s: %v", expression, diagText(list, dir))
			}
		}
	}
	numbers := []string{"0", "-0", "1", "-8", "0.5", "1e300", "1e-300", "1/0", "-1/0", "null", `"3"`}
	for _, a := range numbers {
		for _, format := range []string{"-(%s)", "[1, 2][%s]", `"${%s}"`, "{(%s) = 1}", "[1/0, -1/0, %s][*]"} {
			eval(fmt.Sprintf(format, a))
		}
		for _, b := range numbers {
			for _, op := range []string{"+", "-", "*", "/", "%", "<", ">=", "==", "!="} {
				eval(fmt.Sprintf("(%s) %s (%s)", a, op, b))
			}
		}
	}
}
