package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/fevalgraph/fevalgraph/backend/kinds"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// preamble declares the names that blocks can refer to, those of the quickstart. Blocks omit the parts that they
// declare themselves.
var preamble = []struct{ addr, text string }{
	{"problem.tally", `problem "tally" {
%s}`},
	{"solution.reference", `solution "reference" {
  problem = problem.tally
  source  = "solutions/reference/${checkpoint.name}"
  missing = "skip"
  labels  = { model = "large" }
}`},
	{"solution.hasty", `solution "hasty" {
  problem = problem.tally
  source  = "solutions/hasty/${checkpoint.name}"
  missing = "skip"
  labels  = { model = "small" }
}`},
	{"suite.nightly", `suite "nightly" {}`},
}

// parts complete a fragment to a valid block; each is left out if the fragment has it.
var parts = map[string][]struct{ name, text string }{
	"problem": {
		{"entry", `entry = "python tally.py"`},
		{"pytest", `pytest { root = "problems/tally/tests" }`},
		{"checkpoint.checkpoint_1", `checkpoint "checkpoint_1" {}`},
		{"checkpoint.checkpoint_2", `checkpoint "checkpoint_2" {}`},
		{"checkpoint.checkpoint_3", `checkpoint "checkpoint_3" {}`},
	},
	"solution": {
		{"problem", `problem = problem.tally`},
		{"source", `source = "solutions/reference/${checkpoint.name}"`},
	},
}

// the labels of the block around a fragment, which the preamble then lacks
var labels = map[string]string{
	"problem": `"tally"`, "checkpoint": `"checkpoint_2"`, "solution": `"reference"`, "suite": `"nightly"`, "backend": `"local" "host"`,
}

func TestHCL(t *testing.T) {
	for _, p := range pages(t) {
		for _, b := range p.blocks(t, "hcl") {
			t.Run(fmt.Sprintf("%s:%d", p.path, b.start+1), func(t *testing.T) {
				loadBlock(t, b, p.content(b), p.files(t))
			})
		}
	}
}

// extensions are the parts of the language that the program hands over and every page can use.
var extensions = lang.Extensions{Kinds: kind.Blocks(kinds.All())}

func loadBlock(t *testing.T, b block, text string, files []file) {
	text = surround(t, b.option("in"), text)
	if !b.has("alone") {
		text += addPreamble(declared(t, text))
	}
	dir := sampleProject(t)
	for _, f := range files {
		f.write(t, dir)
	}
	write(t, filepath.Join(dir, "fevalgraph.hcl"), text)
	cfg, found := lang.Load(lang.Options{
		Extensions: extensions,
		Inputs:     lang.Inputs{Dir: dir, Vars: missingValues(t, text, dir)},
		Version:    "0.1.0",
		Env:        func(name string) (string, bool) { return "value", name == "API_TOKEN" },
	})
	for _, p := range cfg.Problems {
		found = append(found, p.Invalid...)
	}
	switch want := b.option("error"); {
	case want == "" && found.HasErrors():
		t.Errorf("%v\n%s", found, text)
	case want != "" && !slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Code == want }):
		t.Errorf("want the error %s, got %v", want, found)
	}
}

// surround puts a fragment into the block that it belongs to.
func surround(t *testing.T, kind, fragment string) string {
	if kind == "" {
		return fragment
	}
	if labels[kind] == "" {
		t.Fatalf("in=%s: no such block", kind)
	}
	have := declared(t, fragment)
	var missing strings.Builder
	for _, part := range parts[kind] {
		if !have[part.name] {
			missing.WriteString(part.text + "\n")
		}
	}
	text := fmt.Sprintf("%s %s {\n%s%s}\n", kind, labels[kind], fragment, missing.String())
	if kind == "checkpoint" {
		return surround(t, "problem", text)
	}
	return text
}

// addPreamble returns the parts of the preamble that are not declared.
func addPreamble(have map[string]bool) string {
	var text strings.Builder
	for _, part := range preamble {
		if have[part.addr] {
			continue
		}
		content := part.text
		if part.addr == "problem.tally" {
			var inner strings.Builder
			for _, p := range parts["problem"] {
				inner.WriteString("  " + p.text + "\n")
			}
			content = fmt.Sprintf(content, inner.String())
		}
		text.WriteString("\n" + content + "\n")
	}
	return text.String()
}

// declared lists the attributes and the blocks, with their labels, of a text.
func declared(t *testing.T, text string) map[string]bool {
	have := map[string]bool{}
	for _, b := range parse(t, text).Blocks {
		have[strings.Join(append([]string{b.Type}, b.Labels...), ".")] = true
	}
	for name := range parse(t, text).Attributes {
		have[name] = true
	}
	return have
}

// missingValues gives every variable without a default the project's path.
func missingValues(t *testing.T, text, dir string) []string {
	var vars []string
	for _, b := range parse(t, text).Blocks {
		if b.Type == "variable" && b.Body.Attributes["default"] == nil {
			vars = append(vars, b.Labels[0]+"="+dir)
		}
	}
	return vars
}

func parse(t *testing.T, text string) *hclsyntax.Body {
	t.Helper()
	file, problems := hclsyntax.ParseConfig([]byte(text), "block", hcl.InitialPos)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	return file.Body.(*hclsyntax.Body)
}

// sampleProject returns the quickstart without its configuration, with a few files
// more that blocks name.
func sampleProject(t *testing.T) string {
	dir := t.TempDir()
	copyQuickstart(t, dir)
	if err := os.Remove(filepath.Join(dir, "fevalgraph.hcl")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"suites/nightly.hcl":                   "# nothing yet\n",
		"token.txt":                            "value\n",
		"nightly.txt":                          "reference:tally\nsolutions/hasty/checkpoint_1:tally\n",
		"images/judge/Dockerfile":              "FROM scratch\n",
		"problems/index.yaml":                  "tally:\n  title: Word tally\n  checkpoints: [checkpoint_1, checkpoint_2]\n",
		"bench/count/config.yaml":              "entry: count.py\ncheckpoints: { one: { order: 1 } }\n",
		"bench/count/tests/test_one.py":        "",
		"problems/tally/config.yaml":           "title: Word tally\nmarkers:\n  slow: functionality\n",
		"outputs/small/checkpoint_1/tally.py":  "",
		"outputs/large/checkpoint_1/tally.py":  "",
		"outputs/large/checkpoint_2/tally.py":  "",
		"problems/tally/reference/answers.csv": "word,count\n",
		"problems/sum/checker.cc":              "",
		"problems/sum/interactor.cc":           "",
		"problems/sum/include/testlib.h":       "",
		"problems/sum/reference.cpp":           "",
		"problems/sum/testdata/1.in":           "",
		"problems/sum/testdata/1.ans":          "",
		"problems/sum/testdata/2.in":           "",
		"problems/sum/testdata/2.ans":          "",
		"problems/sum/testdata/3.in":           "",
		"problems/sum/testdata/3.ans":          "",
		"solutions/sum/quick.cpp":              "",
		"problems/gap/evaluate.py":             "",
		"problems/common/tools.py":             "",
		"solutions/gap/even.py":                "",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func copyQuickstart(t *testing.T, dir string) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "examples", "quickstart"))); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".fevalgraph")); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
