package lang

import (
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
