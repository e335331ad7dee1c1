package lang

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

// The files of a configuration: the main file, and its siblings.
const (
	MainFile      = "fevalgraph.hcl"
	SiblingSuffix = ".feval.hcl"
	varSuffix     = ".vars.hcl"
	autoVarSuffix = ".auto.vars.hcl"
)

// source is one file of the configuration.
type source struct {
	path  string // absolute
	shown string // relative to the project when inside it; the Filename of its ranges
	dir   string // absolute; its paths start here
	bytes []byte
	body  *hclsyntax.Body // nil when it could not be read
}

// readSources parses the main file, its siblings and everything included.
func (l *loader) readSources() {
	base, err := filepath.Abs(l.options.Dir)
	if err != nil {
		l.report(finding{code: "missing-file", summary: "No working directory", detail: err.Error()})
		l.unresolved = true
		return
	}
	l.base = base
	main := filepath.Join(base, MainFile)
	if l.options.File != "" {
		main = l.options.File
		if !filepath.IsAbs(main) {
			main = filepath.Join(base, main)
		}
	}
	l.root = filepath.Dir(main)
	l.config.Root = l.root
	if !l.addSource(main, nil) {
		return
	}
	for _, sibling := range l.siblings(SiblingSuffix) {
		if sibling != main {
			l.addSource(sibling, nil)
		}
	}
	for i := 0; i < len(l.sources); i++ { // included files can include more
		l.include(l.sources[i])
	}
}

// siblings returns the files next to the main one whose names end in suffix, sorted.
func (l *loader) siblings(suffix string) []string {
	l.input("fileset", l.root+"\x00*"+suffix)
	entries, err := os.ReadDir(l.root)
	if err != nil {
		l.report(finding{code: "unreadable-file", summary: "Unreadable directory", detail: pathReason(l.show(l.root), err)})
		l.unresolved = true
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) && !e.IsDir() {
			names = append(names, filepath.Join(l.root, e.Name()))
		}
	}
	return names
}

// addSource parses a file into the configuration, unless it was already added. at is the expression that
// includes it, or nil.
func (l *loader) addSource(path string, at *finding) bool {
	if slices.ContainsFunc(l.sources, func(s *source) bool { return s.path == path }) {
		return true
	}
	src := l.parse(path, at)
	if src == nil || src.body == nil {
		l.unresolved = true
		return l.tolerant
	}
	l.sources = append(l.sources, src)
	return true
}

// parse reads and parses one file and reports its errors.
func (l *loader) parse(path string, at *finding) *source {
	l.input("hcl", path)
	src := &source{path: path, shown: l.show(path), dir: filepath.Dir(path)}
	text, err := l.readFile(path)
	if err != nil {
		f := finding{}
		if at != nil {
			f = *at
		}
		f.code, f.summary, f.detail = "unreadable-file", "Unreadable file", pathReason(src.shown, err)
		if errors.Is(err, fs.ErrNotExist) {
			f.code, f.summary = "missing-file", "Missing file"
			if filepath.Base(path) == MainFile && at == nil {
				f.summary = "No configuration"
				if l.options.Dir != "" {
					f.detail = fmt.Sprintf("%q not found in %q.", MainFile, l.options.Dir)
				}
				f.hint = "`fevalgraph init` writes one; -C DIR or -f FILE names another"
			}
		}
		l.report(f)
		return nil
	}
	src.bytes = text
	l.shown[src.shown] = src
	file, problems := parseConfig(text, src.shown)
	if file != nil {
		src.body, _ = file.Body.(*hclsyntax.Body)
	}
	if src.body != nil {
		if bytes.Contains(text, []byte("\r\n")) {
			withoutReturns(src.body, text)
		}
		guard(src.body)
	}
	for _, p := range problems {
		l.reportHCL(p, "syntax")
	}
	if problems.HasErrors() && !l.tolerant {
		src.body = nil
	}
	return src
}

// withoutReturns drops the carriage returns before line feeds in heredocs. Line endings of a file are
// layout, and shells do not accept carriage returns.
func withoutReturns(body *hclsyntax.Body, text []byte) {
	_ = hclsyntax.VisitAll(body, func(n hclsyntax.Node) hcl.Diagnostics {
		literal, ok := n.(*hclsyntax.LiteralValueExpr)
		if ok && literal.Val.Type() == cty.String && literal.Val.IsKnown() && !literal.Val.IsNull() && bytes.Contains(literal.SrcRange.SliceBytes(text), []byte("\r\n")) {
			literal.Val = cty.StringVal(strings.ReplaceAll(literal.Val.AsString(), "\r\n", "\n"))
		}
		return nil
	})
}

// readFile returns the text of a file, from the editor or from disk.
func (l *loader) readFile(path string) ([]byte, error) {
	if l.options.Overlay == nil {
		return os.ReadFile(path)
	}
	if text, open := l.options.Overlay(path); open {
		return text, nil
	}
	if err := l.checkEditable(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// checkEditable returns why a file must not be read for an editor, which opens files without the user's
// approval: a pipe would block it.
func (l *loader) checkEditable(path string) error {
	if l.options.Overlay == nil {
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a regular file")}
	}
	return nil
}

// show returns the name of a file for messages.
func (l *loader) show(path string) string {
	if rel, ok := subpath.Rel(l.base, path); ok {
		return rel
	}
	return path
}
