package lang

import (
	"strings"
	"sync"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// passExpr loads a problem with head, and with the pass condition.
func passExpr(t *testing.T, head, condition string) *Expr {
	t.Helper()
	dir := t.TempDir()
	write(t, dir+"/tests/test_a.py", nil)
	write(t, dir+"/fevalgraph.hcl", []byte(head+`
problem "p" {
  pytest { root = "tests" }
  pass {
    when = `+strings.TrimSpace(condition)+`
  }
  checkpoint "a" {}
}
`))
	c, list := Load(Options{Inputs: Inputs{Dir: dir}})
	if list.HasErrors() {
		t.Fatal(diagText(list, dir))
	}
	return c.Problems[0].Checkpoints[0].Pass.When
}

func TestExprSource(t *testing.T) {
	const head = "locals {\n  a = 1\n  b = [\"x\"]\n}\nfunction \"f\" {\n  params = [n]\n  result = n + local.a\n}\n"
	tests := []struct {
		name, head, condition, want string
	}{
		{"self alone", "", "self.core.passed>=2", "self.core.passed >= 2"},
		{"comments and breaks", "", "( # why\n self.passed && /* x */\n\n self.passed )", "(self.passed && self.passed)"},
		{"values", head, "self.score == local.a && contains(local.b, self.name)", "self.score == local.a && contains(local.b, self.name)\nlocal.a = 1\nlocal.b = [\"x\"]"},
		{"text keeps its spaces", "", `self.name == "a  # ${ self.name }  b"`, `self.name == "a  # ${self.name}  b"`},
		{"heredoc keeps its lines", "", "self.name == <<EOT\n  a # b\n\n  c\nEOT\n", "self.name == <<EOT\n  a # b\n\n  c\nEOT"},
		{"function", head, "f(self.score) > 1", "f(self.score) > 1\nfunction f(n) = n + local.a\nlocal.a = 1"},
		{"for", head, "alltrue([for c in [self.core] : c.total > 0])", "alltrue([for c in [self.core] : c.total > 0])"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := passExpr(t, test.head, test.condition).Source(); got != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

// The source text of an expression must show its meaning.
func TestExprSourceFollowsValues(t *testing.T) {
	a := passExpr(t, "variable \"x\" { default = 1 }\nlocals {\n y = var.x + 1\n}\n", "self.score > local.y")
	b := passExpr(t, "variable \"x\" { default = 2 }\nlocals {\n y = var.x + 1\n}\n", "self.score > local.y")
	if a.Source() == b.Source() {
		t.Errorf("a changed variable does not show in %q", a.Source())
	}
}

func TestExprEval(t *testing.T) {
	e := passExpr(t, "function \"twice\" {\n  params = [n]\n  result = n * 2\n}\nlocals {\n  least = 2\n}\n", "twice(self.core.passed) >= local.least")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			v, list := e.Eval(cty.ObjectVal(map[string]cty.Value{"core": cty.ObjectVal(map[string]cty.Value{"passed": cty.NumberIntVal(1)})}))
			if len(list) > 0 || v.False() {
				t.Errorf("got %#v, %v", v, list)
			}
		})
	}
	all.Wait()

	_, list := e.Eval(cty.ObjectVal(map[string]cty.Value{"coer": cty.NumberIntVal(1)}))
	if !list.HasErrors() {
		t.Fatal("an unknown attribute of self is not rejected")
	}
	d := list[0]
	if d.Code != "unknown-reference" || d.Range == nil || d.Range.File != "fevalgraph.hcl" || !strings.Contains(d.Hint, "coer") || len(d.Snippet) != 1 {
		t.Errorf("got %+v", d)
	}
}
