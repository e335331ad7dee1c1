package lsp

import (
	"path/filepath"
	"strings"
	"testing"
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
