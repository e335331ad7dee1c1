package lang

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Analysis is a configuration as an editor asks about it: what is declared where, what
// refers to it, and what has which value. Of files with syntax errors it knows what could be
// read, and no values. It is for one goroutine at a time.
type Analysis struct {
	l        *loader
	findings diag.List
	whole    bool
}

// Analyze loads a configuration. Its only error is that of ctx, when that ends before.
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

// outlined finds declarations and references in files of which some have syntax errors.
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

// Config is what Load returns.
func (a *Analysis) Config() *Config { return a.l.config }

// Findings are those that Load returns.
func (a *Analysis) Findings() diag.List { return a.findings }

// Whole reports whether all files were read without syntax errors, so that there are values.
func (a *Analysis) Whole() bool { return a.whole }

// Files are the configuration's files of HCL, by their absolute paths.
func (a *Analysis) Files() []string {
	var paths []string
	for _, src := range slices.Concat(a.l.sources, a.l.outside.files) {
		paths = append(paths, src.path)
	}
	return paths
}

// Path is the absolute path of a file as ranges of findings have it.
func (a *Analysis) Path(shown string) string {
	if filepath.IsAbs(shown) {
		return shown
	}
	return filepath.Join(a.l.base, filepath.FromSlash(shown))
}

// Symbol is a declaration.
type Symbol struct {
	Kind     string // of the block: "problem"; "local" of locals
	Name     string // by which references name it
	Ref      string // as a reference spells it: "problem.kvstore", "f()"; "" of what none can name
	Title    string // as it is written: problem "kvstore"
	Span     Span   // all of it
	NameSpan Span
}

func (a *Analysis) symbol(d *decl) Symbol {
	s := Symbol{Kind: d.kind, Name: d.name(), Title: strings.TrimSuffix(d.title(), ` ""`), Span: d.span(), NameSpan: d.nameSpan()}
	if d.kind == "function" || slices.Contains(referable(), prefixOf(d.kind)) {
		s.Ref = a.l.refName(d)
	}
	return s
}

// Symbols are the declarations that are written, in source order.
func (a *Analysis) Symbols() []Symbol {
	var all []Symbol
	for _, d := range a.l.decls {
		if d.block != nil || d.attr != nil {
			all = append(all, a.symbol(d))
		}
	}
	return all
}

// Candidates are the declarations that references at a place can begin with a prefix for:
// "problem", or "local" with those of the block that the place is in.
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

// Named is the declaration that is named at a place, in a reference or by itself, and where
// exactly; false when none is.
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
	for d := range a.l.declared() {
		if span := d.nameSpan(); d.kind != "fevalgraph" && span.End > span.Start && span.covers(file, at) {
			return d, span
		}
	}
	return nil, Span{}
}

// References are the places that name what is named at a place: first where it is declared,
// if it is written at all, then where files of variables assign it and references name it,
// in source order.
func (a *Analysis) References(file string, at int) []Span {
	d, _ := a.named(file, at)
	if d == nil {
		return nil
	}
	var all []Span
	if span := d.nameSpan(); span.End > span.Start {
		all = append(all, span)
	}
	for _, u := range a.l.uses {
		if u.to == d && !slices.Contains(all, u.span) {
			all = append(all, u.span)
		}
	}
	return all
}

// Rename says whether what is named at a place can have another name, and why not.
func (a *Analysis) Rename(file string, at int, name string) *diag.Diagnostic {
	d, _ := a.named(file, at)
	refuse := func(why string) *diag.Diagnostic {
		return &diag.Diagnostic{Severity: diag.Error, Code: "bad-name", Summary: "Bad name", Detail: why}
	}
	switch {
	case d == nil:
		return refuse("Nothing that has a name of its own is here.")
	case d.nameSpan() == Span{}:
		return refuse(d.title() + " is not written in a file.")
	case !a.whole:
		return refuse("A file of the configuration has a syntax error, so that not all places are known.")
	case !hclsyntax.ValidIdentifier(name):
		return refuse("A name is made of letters, digits, \"_\" and \"-\" and begins with a letter or \"_\".")
	}
	if _, taken := a.l.builtins(d.src.dir)[name]; taken && d.kind == "function" {
		return refuse(name + " is a function of the language.")
	}
	for other := range a.l.declared() {
		if other != d && other.kind == d.kind && other.name() == name && slices.Equal(other.path[:len(other.path)-1], d.path[:len(d.path)-1]) {
			return refuse(other.title() + " is there already.")
		}
	}
	return nil
}
