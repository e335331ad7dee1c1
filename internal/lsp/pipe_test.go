//go:build unix

package lsp

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A project that was just cloned cannot make the server wait for a pipe.
func TestPipe(t *testing.T) {
	for _, text := range []string{
		"fevalgraph { include = [\"pipe\"] }\n",
		"secret \"s\" { file = \"pipe\" }\n",
		"locals { a = file(\"pipe\") }\n",
	} {
		dir := writeProject(t, map[string]string{"fevalgraph.hcl": text})
		if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
			t.Fatal(err)
		}
		c := start(t, "{}")
		found := c.diagnostics(c.open(filepath.Join(dir, "fevalgraph.hcl")))
		if len(found) != 1 || !strings.Contains(found[0].Message, "not a regular file") {
			t.Errorf("%s: got %v", text, found)
		}
	}
}
