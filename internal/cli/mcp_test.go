package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Calls of tools run a command on the project that they specify.
func TestAsker(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fevalgraph.hcl"), []byte("variable \"size\" {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	outside := filepath.Join(home, "scores.csv")
	for _, file := range []string{outside, filepath.Join(dir, "inside.csv")} {
		if err := os.WriteFile(file, []byte("problem,solution,score\np,s,0.5\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.csv")); err != nil {
		t.Fatal(err)
	}
	up, err := filepath.Rel(dir, outside)
	if err != nil {
		t.Fatal(err)
	}
	a := &app{io: IO{LookupEnv: func(name string) (string, bool) {
		if name == "HOME" || name == "FEVALGRAPH_CACHE_DIR" {
			return home, true
		}
		return "", false
	}}}
	a.flags.dir = dir
	for _, try := range []struct {
		vars []string
		args []string
		ok   bool
		want string
	}{
		{nil, []string{"plan", "--json", "--"}, false, "size"},
		{[]string{"size=3"}, []string{"plan", "--json", "--"}, true, `"schema": 1`},
		{[]string{"size=3"}, []string{"log", "--", "a/b"}, false, "no run has been recorded"},
		{[]string{"size=3"}, []string{"results", "--format", "json", "--", "./inside.csv"}, false, "no run has been recorded"},
		{[]string{"size=3"}, []string{"results", "--format", "json", "--", outside}, false, "outside of the project"},
		{[]string{"size=3"}, []string{"results", "--format", "json", "--", up}, false, "outside of the project"},
		{[]string{"size=3"}, []string{"diff", "--format", "json", "--", "inside.csv", "./link.csv"}, false, "outside of the project"},
		{[]string{"size=3"}, []string{"explain", "--json", "--", "--trust"}, false, "--trust matches nothing"},
	} {
		a.flags.vars = try.vars
		if printed, ok := a.asker()(t.Context(), try.args); ok != try.ok || !strings.Contains(printed, try.want) {
			t.Errorf("%v %v: %v, %s", try.vars, try.args, ok, printed)
		}
	}
}
