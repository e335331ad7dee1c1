package lang

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestArchive(t *testing.T) {
	dir := t.TempDir()
	load := func(text string) *Config {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "fevalgraph.hcl"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"tests/test_one.py", "a/x.py", "b/x.py"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		c, diags := Load(Options{Inputs: Inputs{Dir: dir}, Version: "0.1.0"})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return c
	}
	const text = `
variable "v" { default = 1 }
problem "p" {
  entry = "x"
  pytest { root = "tests" }
  checkpoint "one" {
    env = { A = "1" }
  }
}
solution "s" {
  for_each = toset(["a", "b"])
  problem  = problem.p
  source   = each.key
}
suite "all" { repeat = 2 }
`
	want := load(text)
	b, err := Archive(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Unarchive(b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	cell := got.Suites[0].Cells[0]
	if cell.Solution != got.Solutions[0] || cell.Solution.Problem != got.Problems[0] || cell.Solution.Checkpoints[0].Checkpoint != got.Problems[0].Checkpoints[0] {
		t.Error("what is one in the configuration is several in its archive")
	}
	if _, err := Unarchive(b[:len(b)-1]); err == nil {
		t.Error("a piece of an archive was taken for all")
	}
	waits := load(text + "result \"r\" {\n  from = suite.all\n  metric \"m\" {\n    value = length(self)\n  }\n}\n")
	if _, err := Archive(waits); err == nil {
		t.Error("an expression over results was archived")
	}
}
