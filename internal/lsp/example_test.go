package lsp

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/eval/validate"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
	"github.com/fevalgraph/fevalgraph/lang"
)

// exampleFiles returns the examples, copied next to each other, and their HCL files.
func exampleFiles(t *testing.T) map[string][]string {
	t.Helper()
	mains, err := filepath.Glob("../../examples/*/fevalgraph.hcl")
	if err != nil || len(mains) < 8 {
		t.Fatal(mains, err)
	}
	all, root := map[string][]string{}, t.TempDir()
	if err := os.CopyFS(root, os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	for _, main := range mains {
		files, err := filepath.Glob(filepath.Join(root, filepath.Base(filepath.Dir(main)), "*.hcl"))
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(filepath.Dir(main))] = files
	}
	return all
}

// TestExamples sends all requests for every position of every example: each feature of the server has a check here.
func TestExamples(t *testing.T) {
	for name, files := range exampleFiles(t) {
		t.Run(name, func(t *testing.T) {
			if name != "quickstart" && name != "judge" {
				longtest.Skip(t)
			}
			c := start(t, `{"textDocument": {"completion": {"completionItem": {"snippetSupport": true}}}}`)
			for _, file := range files {
				uri := c.open(file)
				c.checkDiagnostics(t, uri)
				c.checkEverywhere(t, uri)
				c.checkCompletion(t, uri)
				c.checkHover(t, uri)
			}
		})
	}
}

// validated returns the diagnostics of `validate` for the open texts of a client, by URI.
func (c *client) validated(dir string) map[string][]diagnostic {
	o := projectOptions(c.t)
	o.Dir = dir
	with := o.Lang()
	with.Overlay = func(path string) ([]byte, bool) { text, open := c.texts[uriOf(path)]; return []byte(text), open }
	cfg, found := lang.Load(with)
	all := map[string][]diagnostic{}
	for _, f := range validate.Findings(cfg, found, new(validate.Imports)) {
		file := filepath.Join(dir, "fevalgraph.hcl")
		if f.Range != nil && f.Range.File != "" && !strings.HasPrefix(f.Range.File, "--var") {
			if file = f.Range.File; !filepath.IsAbs(file) {
				file = filepath.Join(dir, file)
			}
		}
		text, _ := with.Overlay(file)
		d := newDocument(uriOf(file), 0, text)
		all[d.uri] = append(all[d.uri], d.diagnostic(f))
	}
	return all
}

func (c *client) checkDiagnostics(t *testing.T, uri string) {
	t.Helper()
	want := c.validated(filepath.Dir(pathOf(uri)))[uri]
	if want == nil {
		want = []diagnostic{}
	}
	if diff := cmp.Diff(want, c.diagnostics(uri)); diff != "" {
		t.Errorf("diagnostics of %s differ from those of validate:\n%s\nof the text\n%s", uri, diff, c.texts[uri])
	}
}

var reference = regexp.MustCompile(`\b(var|local|problem|solution|task|suite|pool)\.([a-z_]\w*)|\b(backend)\.\w+\.(\w+)`)

// checkEverywhere sends requests for positions all over a text, and looks up referenced names.
func (c *client) checkEverywhere(t *testing.T, uri string) {
	t.Helper()
	text := c.texts[uri]
	d := newDocument(uri, 0, []byte(text))
	for at := 0; at < len(text); at += longtest.Size(211, 13) {
		p := d.position(at)
		for _, method := range []string{"textDocument/hover", "textDocument/definition", "textDocument/completion"} {
			c.call(method, c.at(uri, p), nil)
		}
	}
	for _, m := range reference.FindAllStringSubmatchIndex(text, -1) {
		name, p := text[max(m[4], m[8]):m[1]], d.position(m[1]-1)
		if c.inComment(d, m[0]) {
			continue
		}
		var to location
		c.call("textDocument/definition", c.at(uri, p), &to)
		if to.URI == "" { // an implicit object, or a value with such a name
			continue
		}
		if got := within(c.currentText(to.URI), to.Range); got != name {
			t.Errorf("%s is declared as %q", text[m[0]:m[1]], got)
		}
	}
}

func (c *client) inComment(d *document, at int) bool {
	line := d.text[d.starts[d.position(at).Line]:at]
	return strings.Contains(string(line), "#")
}

func (c *client) currentText(uri string) string {
	if text, open := c.texts[uri]; open {
		return text
	}
	text, err := os.ReadFile(pathOf(uri))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}
