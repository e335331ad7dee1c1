package lang

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Analysis answers an editor's queries about a configuration: where names are declared and
// which values they have. Files with syntax errors contribute the declarations that could be read, and
// no values. It is not safe for concurrent use.
type Analysis struct {
	l        *loader
	findings diag.List
	whole    bool
}

// Analyze loads a configuration. It returns only the error of ctx.
func Analyze(ctx context.Context, o Options) (*Analysis, error) {
	l := newLoader(ctx, o)
	l.load()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.findings.Sort()
	a := &Analysis{l: l, findings: l.findings, whole: !l.unresolved}
	if l.unresolved {
		a.l = outlined(ctx, o)
		a.l.config = l.config
	}
	return a, nil
}

// outlined finds declarations and references in files that have syntax errors.
func outlined(ctx context.Context, o Options) *loader {
	l := newLoader(ctx, o)
	l.tolerant = true
	l.readSources()
	if len(l.sources) > 0 {
		l.declare()
		l.readAssignments()
		l.resolveAll()
	}
	return l
}

// Config returns the configuration, as Load does.
func (a *Analysis) Config() *Config { return a.l.config }

// Findings returns the findings, as Load does.
func (a *Analysis) Findings() diag.List { return a.findings }

// Whole reports whether all files were read without syntax errors, so that values exist.
func (a *Analysis) Whole() bool { return a.whole }

// Files returns the absolute paths of the configuration's HCL files.
func (a *Analysis) Files() []string {
	var paths []string
	for _, src := range slices.Concat(a.l.sources, a.l.outside.files) {
		paths = append(paths, src.path)
	}
	return paths
}

// Path returns the absolute path of the file of a finding's range.
func (a *Analysis) Path(shown string) string {
	if filepath.IsAbs(shown) {
		return shown
	}
	return filepath.Join(a.l.base, filepath.FromSlash(shown))
}

// Symbol is a declaration.
type Symbol struct {
	Kind     string // of the block: "problem"; "local" of locals
	Name     string // the name in references
	Ref      string // spelled as in a reference: "problem.kvstore", "f()"; "" if no reference can name it
	Title    string // as written: problem "kvstore"
	Span     Span   // of the whole declaration
	NameSpan Span
}

func (a *Analysis) symbol(d *decl) Symbol {
	s := Symbol{Kind: d.kind, Name: d.name(), Title: strings.TrimSuffix(d.title(), ` ""`), Span: d.span(), NameSpan: d.nameSpan()}
	if d.kind == "function" || slices.Contains(referable(), prefixOf(d.kind)) {
		s.Ref = a.l.refName(d)
	}
	return s
}

// Candidates returns the declarations that a reference at a position can name after a prefix: "problem", or
// "local" with the locals of the enclosing block.
func (a *Analysis) Candidates(prefix, file string, at int) []Symbol {
	var all []Symbol
	for _, d := range a.l.decls {
		if prefixOf(d.kind) == prefix {
			all = append(all, a.symbol(d))
		}
		if prefix == "local" && d.span().covers(file, at) {
			for _, own := range d.own {
				all = append(all, a.symbol(own))
			}
		}
	}
	return all
}

// Named returns the declaration that is named at a position, in a reference or where it is declared, and the
// exact span of the name; false if the position names no declaration.
func (a *Analysis) Named(file string, at int) (s Symbol, name Span, ok bool) {
	d, name := a.named(file, at)
	if d == nil {
		return Symbol{}, Span{}, false
	}
	return a.symbol(d), name, true
}

func (a *Analysis) named(file string, at int) (*decl, Span) {
	for _, u := range a.l.uses {
		if u.span.covers(file, at) {
			return u.to, u.span
		}
	}
	for d := range a.l.allDeclarations() {
		if span := d.nameSpan(); d.kind != "fevalgraph" && span.End > span.Start && span.covers(file, at) {
			return d, span
		}
	}
	return nil, Span{}
}
