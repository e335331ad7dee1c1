package kinds

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/lang"
)

// Only programs and servers that a block names take trust.
func TestAsks(t *testing.T) {
	for block, want := range map[string][]string{
		`backend "local" "b" {}`: nil,
		`backend "local" "b" {
  python = "pypy@3.10"
  env    = { FLAVOR = "x" }
}`: nil,
		`backend "local" "b" { python = ">=3.11,<3.13" }`:             nil,
		`backend "local" "b" { python = "./python" }`:                 {"start the interpreter ./python"},
		`backend "local" "b" { python = "evil" }`:                     {"start the interpreter evil"},
		`backend "local" "b" { env = { LD_PRELOAD = "x" } }`:          {"set LD_PRELOAD=x"},
		`backend "local" "b" { env = { UV_INDEX = secret.s } }`:       {"set UV_INDEX to a secret"},
		`backend "local" "b" { env = { UV_PYTHON = "/x/python" } }`:   {"set UV_PYTHON=/x/python"},
		`backend "local" "b" { versions = ["go version", "go env"] }`: {"run go env"},
		`backend "gojudge" "b" {}`:                                    nil,
		`backend "gojudge" "b" { binary = "/x" }`:                     {"start /x"},
		`backend "gojudge" "b" { versions = ["x --version"] }`:        {"run in its sandbox x --version"},
		`backend "gojudge" "b" { endpoint = "http://127.0.0.1:1" }`:   {"talk to http://127.0.0.1:1"},
		`backend "lightcp" "b" { endpoint = "http://127.0.0.1:1" }`:   {"talk to http://127.0.0.1:1"},
		`backend "skypilot" "b" { infra = "gcp" }`:                    nil,
		`backend "docker" "b" { image = "python:3.12" }`:              {"use the image python:3.12"},
		`backend "docker" "b" {
  image = "python:3.12"
  env   = { A = "b" }
}`: {"use the image python:3.12"},
		`backend "docker" "b" {
  image  = "python:3.12"
  env    = { A = "b" }
  user   = "root"
  python = "3.12"
  mount {
    source   = "tools"
    target   = "/tools"
    read_only = false
    content   = "unhashed"
  }
  mount {
    source = "data"
    target = "/data"
  }
}`: {"use the image python:3.12", "mount $DIR/tools at /tools, writable", "mount $DIR/data at /data",
			"run as the user root", "start the interpreter 3.12", "set A=b"},
		`backend "docker" "b" { dockerfile = "Dockerfile" }`:                      {"use an image built from $DIR/Dockerfile", "use the image busybox:1"},
		`backend "docker" "b" { dockerfile = "Wrong.Dockerfile" }`:                {"build from $DIR/Wrong.Dockerfile"},
		"backend \"skypilot\" \"b\" {\n infra = \"x\"\n api = \"http://s\"\n}":    {"talk to http://s"},
		"backend \"local\" \"b\" {\n  versions = \"x\"\n  env = { A = \"b\" }\n}": {"run x", "set A=b"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"fevalgraph.hcl": block + "\nsecret \"s\" { env = \"S\" }\n", "Dockerfile": "FROM busybox:1\n", "Wrong.Dockerfile": "nonsense\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cfg, found := lang.Load(lang.Options{Inputs: lang.Inputs{Dir: dir}, Extensions: lang.Extensions{Kinds: kind.Blocks(All())}, Env: func(string) (string, bool) { return "hidden", true }})
		if found.HasErrors() || len(cfg.Backends) != 1 {
			t.Errorf("%s: %v", block, found)
			continue
		}
		for _, k := range All() {
			if k.Asks == nil {
				t.Fatalf("the kind %s does not declare what it asks", k.Name)
			}
			if k.Name != cfg.Backends[0].Kind {
				continue
			}
			for i := range want {
				want[i] = os.Expand(want[i], func(string) string { return dir })
			}
			if got := k.Asks(cfg.Backends[0]); !slices.Equal(got, want) {
				t.Errorf("%s asks %q, want %q", block, got, want)
			}
		}
	}
}
