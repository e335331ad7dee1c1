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

// TestExamples sends all requests for every position of every example: each feature of the server has a check here,
// except verdicts and failed tests, which need a run (testdata/script/cmd/lsp.txtar of cmd/fevalgraph).
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
				c.checkOutline(t, uri)
				c.checkEverywhere(t, uri)
				c.checkCompletion(t, uri)
				c.checkHover(t, uri)
				c.checkHints(t, uri)
				c.checkReferences(t, uri)
				c.checkFixes(t, uri)
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

// checkOutline checks symbols, folds, formatting and lenses.
func (c *client) checkOutline(t *testing.T, uri string) {
	t.Helper()
	of := map[string]any{"textDocument": map[string]any{"uri": uri}}
	text := c.texts[uri]
	var symbols []documentSymbol
	c.call("textDocument/documentSymbol", of, &symbols)
	if want := len(regexp.MustCompile(`(?m)^[a-z]+ .*\{`).FindAllString(text, -1)); len(symbols) != want {
		t.Errorf("%s has %d symbols, want %d", uri, len(symbols), want)
	}
	for _, s := range symbols {
		if word, _, _ := strings.Cut(s.Name, " "); !strings.HasPrefix(within(text, s.Range), word) || !strings.HasSuffix(within(text, s.Range), "}") {
			t.Errorf("the symbol %s is %q", s.Name, within(text, s.Range))
		}
	}
	var folds []foldingRange
	c.call("textDocument/foldingRange", of, &folds)
	if len(folds) < len(symbols)/2 {
		t.Errorf("%s has only %d folds", uri, len(folds))
	}
	var edits []textEdit
	c.call("textDocument/formatting", of, &edits)
	formatted, _ := lang.Format("", []byte(text))
	if got := applied(text, edits); got != string(formatted) {
		t.Errorf("formatting %s: %s", uri, cmp.Diff(string(formatted), got))
	}
	var lenses []codeLens
	c.call("textDocument/codeLens", of, &lenses)
	for _, l := range lenses {
		if !strings.Contains("run explain", l.Command.Title) && !strings.Contains(l.Command.Title, "never judged") {
			t.Errorf("a lens shows %q without a run", l.Command.Title)
		}
	}
}

var reference = regexp.MustCompile(`\b(var|local|problem|solution|task|suite|pool)\.([a-z_]\w*)|\b(backend)\.\w+\.(\w+)`)

// checkEverywhere sends requests for positions all over a text, and renames referenced names.
func (c *client) checkEverywhere(t *testing.T, uri string) {
	t.Helper()
	text := c.texts[uri]
	d := newDocument(uri, 0, []byte(text))
	for at := 0; at < len(text); at += longtest.Size(211, 13) {
		p := d.position(at)
		for _, method := range []string{"textDocument/hover", "textDocument/definition", "textDocument/completion", "textDocument/prepareRename"} {
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
		c.checkRename(t, uri, p, name)
	}
}

var attribute = regexp.MustCompile(`(?m)^ +([a-z_]{5,}) +=`)

// checkFixes misspells each attribute: if the server reports that, it must offer a fix.
func (c *client) checkFixes(t *testing.T, uri string) {
	t.Helper()
	right, seen := c.texts[uri], 0
	whole := Range{End: Position{Line: 1 << 20}}
	d := newDocument(uri, 0, []byte(right))
	for _, m := range attribute.FindAllStringSubmatchIndex(right, -1) {
		c.edit(uri, d.between(m[2]+2, m[2]+3), "")
		at := Range{Start: d.position(m[2]), End: d.position(m[3] - 1)}
		for _, f := range c.diagnostics(uri) {
			if f.Range != at || f.Code != "unknown-attribute" && f.Code != "unknown-axis" {
				continue
			}
			seen++
			var actions []codeAction
			c.call("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": uri}, "range": f.Range}, &actions)
			if len(actions) != 1 || applied(c.texts[uri], actions[0].Edit.Changes[uri]) != right {
				t.Errorf("%q is not fixed by %+v", f.Message, actions)
			}
		}
		c.edit(uri, whole, right)
	}
	if seen == 0 {
		t.Errorf("no misspelt attribute of %s is seen", uri)
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

// checkRename renames and looks whether anything is wrong then that was not.
func (c *client) checkRename(t *testing.T, uri string, p Position, name string) {
	t.Helper()
	var edit workspaceEdit
	c.call("textDocument/rename", map[string]any{"textDocument": map[string]any{"uri": uri}, "position": p, "newName": name + "_x"}, &edit)
	dir := filepath.Dir(pathOf(uri))
	renamed := map[string][]byte{}
	for changed, edits := range edit.Changes {
		renamed[pathOf(changed)] = []byte(applied(c.currentText(changed), edits))
	}
	o := projectOptions(t)
	o.Dir = dir
	codes := func(overlay func(string) ([]byte, bool)) (all []string) {
		with := o.Lang()
		with.Overlay = overlay
		_, found := lang.Load(with)
		for _, f := range found {
			all = append(all, f.Code)
		}
		return all
	}
	before := codes(nil)
	after := codes(func(path string) ([]byte, bool) { text, changed := renamed[path]; return text, changed })
	if diff := cmp.Diff(before, after); diff != "" || len(renamed) == 0 {
		t.Errorf("renaming %s to %s_x: %s\n%s", name, name, diff, renamed[pathOf(uri)])
	}
}
