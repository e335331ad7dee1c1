package importmap

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mostStative is the largest share of function docs that begin with "X is", "X are" or "X has". Docs of
// functions begin with a verb: "returns", "reports whether", "writes".
const mostStative = 0.08

// avoided are phrases that comments, messages of product code, and pages outside of their blocks must not contain,
// and their replacements.
var avoided = []struct{ form, instead string }{
	{"is what", "a noun and its role"},
	{"is no [a-z]+", "is not a X; without X; X not found"},
	{"is none", "is not one; is missing; means no limit"},
	{"one that", "the noun"},
	{"nobody", "no process, no caller, no user"},
	{"whoever", "the caller, any process, the user"},
	{"of its own", "own, separate, private"},
}

// exceptions are texts with such a phrase that stay, and why.
var exceptions = []struct{ text, why string }{
	{"is no longer", "the thing was there before"},
	{`such as "1000:1000" or "nobody"`, "the name of a user"},
}

// forms collects the texts of Go files.
type forms struct {
	docs               int      // number of function docs
	stative            []string // locations of function docs without a verb
	comments, messages []phraseAt
}

// phraseAt is a text and its location. Its words are separated by single spaces.
type phraseAt struct{ place, text string }

// read adds a file.
func (f *forms) read(path string, content []byte) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, content, parser.ParseComments)
	if err != nil {
		return err
	}
	at := func(n ast.Node) string { return fmt.Sprintf("%s:%d", path, set.Position(n.Pos()).Line) }
	for _, d := range file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Doc != nil {
			f.docs++
			if words := strings.Fields(d.Doc.Text()); len(words) > 1 && slices.Contains([]string{"is", "are", "has"}, words[1]) {
				f.stative = append(f.stative, at(d))
			}
		}
	}
	for _, c := range file.Comments {
		f.comments = append(f.comments, phraseAt{at(c), oneLine(c.Text())})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text, _ := strconv.Unquote(l.Value) // "" for none: the file has been parsed
			f.messages = append(f.messages, phraseAt{at(l), oneLine(text)})
		}
		return true
	})
	return nil
}

// oneLine separates the words of a text by single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// places returns the location of each match of a form, with the text around it.
func places(form string, all []phraseAt) (found []string) {
	pattern := regexp.MustCompile(`(?i)\b` + form + `\b`)
	for _, p := range all {
		for _, e := range exceptions {
			p.text = strings.ReplaceAll(p.text, e.text, "")
		}
		for _, at := range pattern.FindAllStringIndex(p.text, -1) {
			found = append(found, fmt.Sprintf("%s: ...%s...", p.place, strings.ToValidUTF8(p.text[max(at[0]-90, 0):min(at[1]+60, len(p.text))], "")))
		}
	}
	return found
}

// isProduct reports whether a Go file is part of a program that users run.
func isProduct(path string) bool {
	folder := filepath.ToSlash(filepath.Dir(path))
	return filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") && !isForTests(folder) &&
		!slices.ContainsFunc([]string{"bench", "tools", "docs"}, func(f string) bool { return within(folder, f) })
}

// TestForm: docs of functions begin with a verb, and sentences name their subject.
func TestForm(t *testing.T) {
	var code, tests forms
	var pages []phraseAt
	for _, file := range readTexts(t) {
		switch filepath.Ext(file.path) {
		case ".md":
			pages = append(pages, phraseAt{file.path, oneLine(file.prose)})
		case ".go":
			of := &tests
			if isProduct(file.path) {
				of = &code
			}
			content, err := os.ReadFile(filepath.Join("../..", file.path))
			if err == nil {
				err = of.read(file.path, content)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if share := float64(len(code.stative)) / float64(code.docs); code.docs < 1000 || share > mostStative {
		t.Errorf("%.1f %% of the docs of %d functions begin with \"X is\", \"X are\" or \"X has\", want at most %.0f %%:\n%s",
			100*share, code.docs, 100*mostStative, strings.Join(code.stative, "\n"))
	}
	scripts := scriptComments(t)
	if len(scripts) < 2000 {
		t.Errorf("only %d lines of comments outside of Go", len(scripts))
	}
	for _, a := range avoided {
		for name, all := range map[string][]phraseAt{"comments": slices.Concat(code.comments, tests.comments), "messages": code.messages, "pages": pages, "scripts": scripts} {
			if found := places(a.form, all); len(found) > 0 {
				t.Errorf("%q is %d times in %s; write %s:\n%s", a.form, len(found), name, a.instead, strings.Join(found, "\n"))
			}
		}
	}
}

// lineComment matches the comment of a line of a script, a configuration or the report page.
var lineComment = regexp.MustCompile(`(?m)(?:^|\s)(?:#|//|/\*\*?|--)[ \t]+([a-zA-Z].*)$`)

// scriptComments returns the comments of files in other languages than Go, line by line.
func scriptComments(t *testing.T) (comments []phraseAt) {
	t.Helper()
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		file, _ := filepath.Rel(root, path) // path is below root
		file = filepath.ToSlash(file)
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "dist"):
			return fs.SkipDir
		case d.IsDir() || slices.Contains([]string{".go", ".md", ".txt", ".gz", ".lock", ".json", ".vsix"}, filepath.Ext(name)),
			filepath.Ext(name) != ".txtar" && file != "Makefile" && !slices.ContainsFunc([]string{"scripts", "examples", "editors", "tools", "report/page/web"}, func(dir string) bool { return within(file, dir) }):
			return nil
		}
		content, err := os.ReadFile(path)
		for _, at := range lineComment.FindAllSubmatchIndex(content, -1) {
			comments = append(comments, phraseAt{fmt.Sprintf("%s:%d", file, 1+bytes.Count(content[:at[2]], []byte("\n"))), string(content[at[2]:at[3]])})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return comments
}

// TestFormFinds: form finds phrases across lines, and only where it looks for them.
func TestFormFinds(t *testing.T) {
	var f forms
	err := f.read("x.go", []byte("package x\n\n// a is the sum,\n// one\n// that grows.\nfunc a() { _ = `It is no\nnumber` }\n\n// b returns a. It is no longer one.\nfunc b() {}\n\nfunc c() {} // is none\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f.docs != 2 || !slices.Equal(f.stative, []string{"x.go:6"}) {
		t.Errorf("%d docs, without a verb %v", f.docs, f.stative)
	}
	for _, try := range []struct {
		form string
		all  []phraseAt
		want int
	}{
		{"one that", f.comments, 1}, {"one that", f.messages, 0}, {"is no [a-z]+", f.comments, 0}, {"is no [a-z]+", f.messages, 1}, {"is none", f.comments, 1},
	} {
		if got := places(try.form, try.all); len(got) != try.want {
			t.Errorf("%q: %v, want %d", try.form, got, try.want)
		}
	}
	for line, want := range map[string]string{"x=1 # one that\n": "one that", "\t// is none": "is none", "/** A one. */": "A one. */", "-- nobody": "nobody", "#!/bin/sh": "", "http://host": "", "x=$#": ""} {
		got := ""
		if m := lineComment.FindStringSubmatch(line); m != nil {
			got = m[1]
		}
		if got != want {
			t.Errorf("the comment of %q is %q, want %q", line, got, want)
		}
	}
	for path, want := range map[string]bool{"lang/load.go": true, "lang/load_test.go": false, "internal/testkit/x.go": false, "tasks/pytest/parse.go": true, "bench/engine/main.go": false, "docs/README.md": false} {
		if isProduct(path) != want {
			t.Errorf("isProduct(%q) is %v", path, !want)
		}
	}
}
