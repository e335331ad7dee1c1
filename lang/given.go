package lang

import (
	"os"
	"path/filepath"

	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/internal/subpath"
	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

// Files that a configuration reads can leave the machine with its project: in the environment of a test, or
// in a request to a server. So it may read only files of the project and below paths that the user passed as
// the value of a variable. Defaults and *.auto.vars.hcl belong to the project. Exports are written only
// there, too.

// readGiven finds the paths among the values of variables that the user passed.
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

// giveText lets the configuration read below the path in a text, and below the paths in the text's value if
// it is an expression.
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
			l.given = append(l.given, l.realOf(l.files(l.root).Resolve(v.AsString())))
		}
		return true, nil
	})
}

// within reports whether an absolute path leads into the project, or below a path that the user passed.
// The result depends on whether each directory in the path is a link.
func (l *loader) within(path string) bool {
	for at := path; at != l.root && at != filepath.Dir(at); at = filepath.Dir(at) {
		l.input("link", at)
	}
	real := l.realOf(path)
	if subpath.Contains(l.realDir(l.root), real) {
		return true
	}
	for _, given := range l.given {
		if subpath.Contains(given, real) {
			return true
		}
	}
	return false
}

// realOf resolves the symbolic links of a path. The result for a dangling link is unspecified: it cannot
// be read.
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

const placeHint = "declare a variable for the path, and set it by --var, by --var-file or in the environment; its default and *" + autoVarSuffix + " do not count"

// outside explains why an attribute or a function may not read a path.
func (f finding) outside(err *funcs.OutsideError) finding {
	f.code, f.summary = "outside-project", "File outside of the project"
	f.detail = err.Error() + ". A configuration can read only its directory, and files and directories that the user passes as the value of a variable."
	f.hint = placeHint
	return f
}
