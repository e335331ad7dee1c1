package lsp

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const kvstore = `# A store 🗄️.
variable "limit" {
  type    = number
  default = 20
}

variable "token" {
  default   = "hush-hush"
  sensitive = true
}

locals {
  sizes  = { small = 1, large = 2 }
  wanted = "${var.limit}s" # é, e with a combining ` + "e\u0301" + `, 🗄️
}

pool "slow" { slots = 2 }

backend "local" "host" {
  pool = pool.slow
  env  = { TOKEN = var.token }
}

problem "kv" {
  for_each = local.sizes
  entry    = "python main.py"
  timeout  = local.wanted
  pytest { root = "tests" }
  checkpoint "one" {}
}

solution "agent" {
  for_each = problem.kv
  problem  = each.value
  source   = "solutions/${each.key}"
}

suite "all" {
  repeat = 2
  matrix { solution = [solution.agent["small"]] }
}
`

func kvstoreFiles() map[string]string {
	return map[string]string{
		"fevalgraph.hcl": kvstore, "tests/test_one.py": "def test_x():\n    pass\n", "tests/conftest.py": "",
		"solutions/small/main.py": "", "solutions/large/main.py": "",
	}
}

// open is a client with the project open.
func openProject(t *testing.T, files map[string]string) (c *client, uri string) {
	t.Helper()
	dir := writeProject(t, files)
	c = start(t, "{}")
	return c, c.open(filepath.Join(dir, "fevalgraph.hcl"))
}

func TestHover(t *testing.T) {
	c, uri := openProject(t, kvstoreFiles())
	for _, test := range []struct {
		at    string
		n     int
		want  []string
		never string
	}{
		{"timeout ", 0, []string{"**timeout**: duration", `"20s"`}, ""},
		{"var.limit", 0, []string{"`variable \"limit\"` at `fevalgraph.hcl`:2", "20"}, ""},
		{"var.token", 0, []string{"(sensitive)"}, "hush"},
		{"TOKEN", 0, []string{"TOKEN = \"(sensitive)\""}, "hush"},
		{"problem.kv", 0, []string{"`problem \"kv\"`"}, ""},
		{"source ", 0, []string{"**source**", "each.key = \"large\", checkpoint \"one\"", "solutions/large"}, ""},
		{"pytest", 0, []string{"**pytest**"}, ""},
		{"suite", 0, []string{"**suite \"NAME\"**"}, ""},
	} {
		p := findPosition(t, c.texts[uri], test.at, test.n)
		p.Character++
		if strings.Contains(test.at, ".") {
			p.Character += len(test.at) - 2
		}
		var got struct{ Contents markup }
		c.call("textDocument/hover", c.at(uri, p), &got)
		for _, want := range test.want {
			if !strings.Contains(got.Contents.Value, want) {
				t.Errorf("hover on %q lacks %q:\n%s", test.at, want, got.Contents.Value)
			}
		}
		if test.never != "" && strings.Contains(got.Contents.Value, test.never) {
			t.Errorf("hover on %q shows %q", test.at, test.never)
		}
	}
}

func TestRename(t *testing.T) {
	c, uri := openProject(t, kvstoreFiles())
	rename := func(part string, n int, to string) error {
		p := findPosition(t, c.texts[uri], part, n)
		p.Character += len(part) - 1
		var edit workspaceEdit
		err := c.ask("textDocument/rename", map[string]any{"textDocument": map[string]any{"uri": uri}, "position": p, "newName": to}, &edit)
		if err == nil {
			c.edit(uri, Range{End: Position{Line: 1 << 20}}, applied(c.texts[uri], edit.Changes[uri]))
		}
		return err
	}
	for _, wrong := range []struct{ part, to, want string }{
		{"var.limit", "token", "already exists"}, {"var.limit", "a b", "A name is made of"}, {"timeout", "x", "No declared name"},
	} {
		if err := rename(wrong.part, 0, wrong.to); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("renaming %s to %q: %v", wrong.part, wrong.to, err)
		}
	}
	for _, to := range []struct{ part, to string }{{"var.limit", "seconds"}, {"problem.kv", "store"}, {"solution.agent", "model"}, {"pool.slow", "few"}, {"local.sizes", "shapes"}} {
		if err := rename(to.part, 0, to.to); err != nil {
			t.Error(err)
		}
	}
	want := strings.NewReplacer("limit", "seconds", "problem \"kv\"", "problem \"store\"", "problem.kv", "problem.store", "agent", "model", "slow", "few", "sizes ", "shapes ", "local.sizes", "local.shapes").Replace(kvstore)
	if diff := cmp.Diff(want, c.texts[uri]); diff != "" {
		t.Error(diff)
	}
	if found := c.diagnostics(uri); len(found) > 0 {
		t.Error(found)
	}
}

func TestReferencesAndHints(t *testing.T) {
	c, uri := openProject(t, kvstoreFiles())
	p := findPosition(t, kvstore, "problem.kv", 0)
	p.Character += len("problem.k")
	for _, with := range []bool{true, false} {
		var found []location
		c.call("textDocument/references", map[string]any{"textDocument": map[string]any{"uri": uri}, "position": p, "context": map[string]any{"includeDeclaration": with}}, &found)
		if want := map[bool]int{true: 2, false: 1}[with]; len(found) != want {
			t.Errorf("%d references, want %d", len(found), want)
		}
	}
	var hints []inlayHint
	c.call("textDocument/inlayHint", map[string]any{"textDocument": map[string]any{"uri": uri}, "range": Range{End: Position{Line: 1 << 20}}}, &hints)
	var labels []string
	for _, h := range hints {
		labels = append(labels, h.Label)
	}
	if diff := cmp.Diff([]string{"2 cells", "2 instances: large, small", "2 instances: large, small"}, labels); diff != "" {
		t.Error(diff)
	}
	var symbols []workspaceSymbol
	c.call("workspace/symbol", map[string]any{"query": "ag"}, &symbols)
	if len(symbols) != 1 || symbols[0].Name != `solution "agent"` {
		t.Error(symbols)
	}
}

// The server offers an edit that fixes a misspelt name.
func TestQuickFixes(t *testing.T) {
	for _, wrong := range []struct{ is, was string }{
		{"problem.kb", "problem.kv"}, {"timeuot  = local", "timeout  = local"}, {"pytset {", "pytest {"}, {"local.wantd", "local.wanted"}, {"backend \"locl\"", "backend \"local\""},
	} {
		c, uri := openProject(t, kvstoreFiles())
		c.edit(uri, Range{End: Position{Line: 1 << 20}}, strings.Replace(kvstore, wrong.was, wrong.is, 1))
		found := c.diagnostics(uri)
		if len(found) == 0 {
			t.Errorf("%q is not an error", wrong.is)
			continue
		}
		var actions []codeAction
		c.call("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": uri}, "range": found[0].Range, "context": map[string]any{"diagnostics": found}}, &actions)
		if len(actions) != 1 {
			t.Errorf("%d actions for %q: %v", len(actions), wrong.is, found)
			continue
		}
		if got := applied(c.texts[uri], actions[0].Edit.Changes[uri]); got != kvstore {
			t.Error(cmp.Diff(kvstore, got))
		}
	}
}
