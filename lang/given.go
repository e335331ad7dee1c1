package lang

import (
	"os"
	"path/filepath"

	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

// What a configuration reads can go anywhere that its project sends it: into the
// environment of a test, to a server. So it reads files of the project, and those below
// paths that a person gave as the value of a variable. Defaults and *.auto.vars.hcl are the
// project's own. Exports are written there, and nowhere else, likewise.

// readGiven finds the paths among the values of variables that a person gave.
func (l *loader) readGiven() {
	for _, dir := range l.options.Within {
		l.given = append(l.given, l.realOf(dir))
	}
	for _, d := range l.decls {
		if d.kind != "variable" {
			continue
		}
		if text, ok := l.outside.flags[d.name()]; ok {
			l.giveText(text)
			continue
		}
		inFile := false
		for _, file := range l.outside.files[:l.outside.given] {
			if attr := file.body.Attributes[d.name()]; attr != nil {
				v, _ := attr.Expr.Value(nil)
				l.give(v)
				inFile = true
			}
		}
		if text, ok := l.options.Env(variableEnvPrefix + d.name()); ok && !inFile {
			l.giveText(text)
		}
	}
}

// giveText gives a text, and what it is as a value of the language.
func (l *loader) giveText(text string) {
	l.give(cty.StringVal(text))
	expr, problems := parseExpression([]byte(text), "")
	if problems.HasErrors() {
		return
	}
	v, _ := expr.Value(nil)
	l.give(v)
}

// give lets the configuration read below every path in a value.
func (l *loader) give(v cty.Value) {
	v, _ = v.UnmarkDeep()
	_ = cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
		if v.IsKnown() && !v.IsNull() && v.Type() == cty.String && v.AsString() != "" {
			path := v.AsString()
			if !filepath.IsAbs(path) {
				path = filepath.Join(l.root, path)
			}
			l.given = append(l.given, l.realOf(path))
		}
		return true, nil
	})
}

// within reports whether an absolute path leads to a place in the project, or to one that
// a person gave. The answer depends on each directory on the way there being one, or a link.
func (l *loader) within(path string) bool {
	for at := path; at != l.root && at != filepath.Dir(at); at = filepath.Dir(at) {
		l.input("link", at)
	}
	real := l.realOf(path)
	if !escapes(l.realDir(l.root), real) {
		return true
	}
	for _, given := range l.given {
		if !escapes(given, real) {
			return true
		}
	}
	return false
}

// realOf is a path without symbolic links. What a link that leads nowhere is called does
// not matter: there is nothing to read.
func (l *loader) realOf(path string) string {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
	}
	return filepath.Join(l.realDir(filepath.Dir(path)), filepath.Base(path))
}

// realDir is realOf for directories, which many files share.
func (l *loader) realDir(dir string) string {
	if real, ok := l.real[dir]; ok {
		return real
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
		if parent := filepath.Dir(dir); parent != dir {
			real = filepath.Join(l.realDir(parent), filepath.Base(dir))
		}
	}
	l.real[dir] = real
	return real
}

const placeHint = "declare a variable for the place, and give it by --var, by --var-file or in the environment; its default does not count"

// outside says why an attribute or a function may not read a path.
func (f finding) outside(err *funcs.OutsideError) finding {
	f.code, f.summary = "outside-project", "File outside of the project"
	f.detail = err.Error() + ". A configuration reads files of its own directory, and of directories and files that a person gives it as the value of a variable."
	f.hint = placeHint
	return f
}
