package lang

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Missing values in one instance are errors of only that instance.
func TestNoValueOfInstance(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"chk.cc": "", MainFile: `
problem "p" {
  for_each = toset(["null", "1"])
  invalid  = "report"
  locals {
    found = contains(["x"], jsondecode(each.key))
  }
  judge {
    root     = "."
    testdata = "."
    checker = local.found ? "other.cc" : "chk.cc"
    subtask {
      case { input = "chk.cc" }
    }
  }
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cfg, found := Load(Options{Inputs: Inputs{Dir: dir}})
	if cfg == nil || len(found) > 0 {
		t.Fatal(found)
	}
	for _, p := range cfg.Problems {
		wrong := p.Ref == `problem.p["null"]`
		if wrong != (len(p.Invalid) == 1) || wrong && !strings.Contains(p.Invalid[0].Detail, "has no value") {
			t.Errorf("%s is invalid: %v", p.Ref, p.Invalid)
		}
	}
}
