package complete

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/backend/kinds"
	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/lang"
)

const configuration = `
problem "tally" {
  command {
    root     = "root"
    solution = "answer.txt"
    run      = "echo 1"
  }
}
problem "total" {
  command {
    root     = "root"
    solution = "answer.txt"
    run      = "echo 2"
  }
}
solution "s" {
  for_each = problem
  name     = "s"
  problem  = each.value
  source   = "answer.txt"
  labels   = { model = "small" }
}
`

func project(t *testing.T, files map[string]string) (Project, *cobra.Command) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	return func(*cobra.Command) eval.Options {
		return eval.Options{
			Inputs: lang.Inputs{Dir: dir},
			Kinds:  kinds.All(),
			LookupEnv: func(name string) (string, bool) {
				if name == "FEVALGRAPH_CACHE_DIR" {
					return filepath.Join(dir, "store"), true
				}
				return "", false
			},
		}
	}, cmd
}

func TestAnswers(t *testing.T) {
	p, cmd := project(t, map[string]string{"fevalgraph.hcl": configuration, "root/grade.sh": "", "answer.txt": ""})
	has := func(answer Answer, args []string, word string, want ...string) {
		t.Helper()
		got, _ := answer(cmd, args, word)
		for _, one := range want {
			if !slices.Contains(got, one) {
				t.Errorf("%q: %q lacks %q", word, got, one)
			}
		}
	}
	is := func(answer Answer, args []string, word string, want ...string) {
		t.Helper()
		if got, _ := answer(cmd, args, word); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	has(p.Selectors, nil, "", "tally", "problem=", "label.model=", "aggregate:")
	is(p.Selectors, nil, "problem=t", "problem=tally", "problem=total")
	is(p.Selectors, nil, "label.model=small,problem=ta", "label.model=small,problem=tally")
	is(p.Selectors, nil, "score:ta", "score:tally/s@local.host")
	is(p.Selectors, nil, "nothing=")
	is(p.Nodes, nil, "score:ta", "score:tally/s@local.host")
	is(p.Nodes, []string{"tally"}, "score:ta")
	is(p.Eval, nil, "", "tally", "total")
	is(p.Eval, []string{"tally"}, "")
	is(p.Values("problem"), nil, "", "tally", "total")
	is(p.Axes, nil, "problem,m", "problem,model")
	is(p.Runs, nil, "", "latest", "latest~1")
	is(Words("a", "b"), nil, "", "a", "b")

	if _, directive := p.Eval(cmd, []string{"tally"}, ""); directive != cobra.ShellCompDirectiveDefault {
		t.Errorf("a path is completed as %v", directive)
	}
	if _, directive := Directories(cmd, nil, ""); directive != cobra.ShellCompDirectiveFilterDirs {
		t.Errorf("a directory is completed as %v", directive)
	}
}

// A shell that completes shows no errors.
func TestUnreadableConfiguration(t *testing.T) {
	p, cmd := project(t, map[string]string{"fevalgraph.hcl": `problem "tally" {`})
	if got, _ := p.Selectors(cmd, nil, "score:ta"); len(got) > 0 {
		t.Errorf("addresses: %q", got)
	}
	if got, _ := p.Eval(cmd, nil, ""); len(got) > 0 {
		t.Errorf("problems: %q", got)
	}
}
