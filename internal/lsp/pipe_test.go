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
	dir := writeProject(t, map[string]string{"fevalgraph.hcl": "fevalgraph { include = [\"pipe.hcl\"] }\n"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.hcl"), 0o644); err != nil {
		t.Skip(err)
	}
	c := start(t, "{}")
	found := c.diagnostics(c.open(filepath.Join(dir, "fevalgraph.hcl")))
	if len(found) != 1 || found[0].Code != "unreadable-file" || !strings.Contains(found[0].Message, "not a regular file") {
		t.Errorf("got %v", found)
	}
}
