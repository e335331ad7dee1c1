package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/cli"
)

// Every command has a script, which also checks its help.
func TestEveryCommandHasScript(t *testing.T) {
	dir := filepath.Join("testdata", "script", "cmd")
	help, err := os.ReadFile(filepath.Join(dir, "help.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cli.Commands(nil).Commands() {
		if c.Name() == "help" {
			continue
		}
		if !strings.Contains(string(help), "exec fevalgraph "+c.Name()+" --help") {
			t.Errorf("help.txtar does not look at the help of %s", c.Name())
		}
		if _, err := os.Stat(filepath.Join(dir, c.Name()+".txtar")); err != nil {
			t.Errorf("%s has no script: %v", c.Name(), err)
		}
		if c.Example == "" {
			t.Errorf("%s has no example", c.Name())
		}
	}
}
