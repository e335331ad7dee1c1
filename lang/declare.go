package lang

import (
	"fmt"
	"iter"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/userfunc"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// decl is a declaration, evaluated once.
type decl struct {
	kind   string   // "problem", "local", "backend" …
	path   []string // names after the kind: ["kvstore"], ["local", "host"]
	src    *source
	block  *hclsyntax.Block     // nil for locals and implicit declarations
	attr   *hclsyntax.Attribute // of a local
	schema *BlockSchema         // of block
	header hcl.Range

	needs []need          // its references, in source order
	whole map[string]bool // kinds that it refers to as a whole

	own     []*decl  // its own locals, in the order of evaluation
	attempt *attempt // set while an instance is evaluated

	failed bool
	value  cty.Value // unknown until evaluated, and after a failure
	made   any       // its part of the Config, once evaluated
}

// need is one reference.
type need struct {
	to  *decl
	rng hcl.Range
}

// addr returns the address in references.
func (d *decl) addr() string { return d.kind + "." + strings.Join(d.path, ".") }

// name returns the last part of the address.
func (d *decl) name() string { return d.path[len(d.path)-1] }

// title returns the declaration as written, for messages.
func (d *decl) title() string {
	if d.kind == "local" {
		return d.addr()
	}
	return blockTitle(d.kind, d.path)
}

// declare collects the names of all sources.
func (l *loader) declare() {
	for _, src := range l.sources {
		for _, b := range src.body.Blocks {
			schema := l.topSchema(b.Type)
			if schema == nil || len(b.Labels) != len(schema.Labels) {
				continue // reported by checkStructure
			}
			if b.Type == "locals" {
				for _, attr := range sortedAttributes(b.Body.Attributes) {
					l.add(&decl{kind: "local", path: []string{attr.Name}, src: src, attr: attr, header: attr.NameRange})
				}
				continue
			}
			if schema.Kinds != nil {
				if schema = schema.ForKind(b.Labels[0]); schema == nil {
					continue
				}
			}
			path := b.Labels
			if len(path) == 0 {
				path = []string{""} // the only fevalgraph block
			}
			l.add(&decl{kind: b.Type, path: path, src: src, block: b, schema: schema, header: b.DefRange()})
		}
	}
	l.declareImplicit()
	for _, d := range l.decls {
		l.declareOwn(d)
	}
}

// declareImplicit adds the declarations that exist by default.
func (l *loader) declareImplicit() {
	main := l.sources[0]
	if !l.hasBlock("backend") || !l.runsCommands() && (l.writtenDriver("pytest") || l.writtenDriver("command") || l.writtenDriver("verifier") || l.hasBlock("task")) {
		l.add(&decl{kind: "backend", path: []string{"local", "host"}, src: main})
	}
	if !l.hasBlock("suite") {
		l.add(&decl{kind: "suite", path: []string{"default"}, src: main})
	}
	l.add(&decl{kind: "pool", path: []string{cpuPool}, src: main})
}

// cpuPool is the pool whose size is -j.
const cpuPool = "cpu"

// hasBlock reports whether any file contains a block of the kind, even a malformed one: an invalid backend
// block must not enable the implicit backend.
func (l *loader) hasBlock(kind string) bool {
	for _, src := range l.sources {
		for _, b := range src.body.Blocks {
			if b.Type == kind {
				return true
			}
		}
	}
	return false
}

// runsCommands reports whether a backend block exists that is not only for judge problems.
func (l *loader) runsCommands() bool {
	for _, src := range l.sources {
		for _, b := range src.body.Blocks {
			if b.Type == "backend" && (len(b.Labels) == 0 || l.kindOf(b.Labels[0]).NoCommands == "") {
				return true
			}
		}
	}
	return false
}

// writtenDriver reports whether any problem contains the driver block.
func (l *loader) writtenDriver(name string) bool {
	for _, src := range l.sources {
		for _, b := range src.body.Blocks {
			for _, inner := range b.Body.Blocks {
				if b.Type == "problem" && l.kindOfDriver(inner.Type) == name {
					return true
				}
			}
		}
	}
	return false
}

func (l *loader) add(d *decl) {
	d.value = cty.DynamicVal
	d.whole = map[string]bool{}
	if first := l.byAddr[d.addr()]; first != nil {
		l.duplicate(d, first)
		return
	}
	if d.kind == "pool" && d.block != nil && d.name() == cpuPool {
		l.report(finding{
			code: "duplicate", summary: "Duplicate pool", detail: "The pool cpu always exists; its size is -j.",
			rng: d.header,
		})
		return
	}
	if !l.checkName(d) {
		d.failed = true
	}
	l.byAddr[d.addr()] = d
	l.decls = append(l.decls, d)
	if d.kind == "function" {
		l.declareFunction(d)
	}
}

func (l *loader) duplicate(second, first *decl) {
	l.report(finding{
		code: "duplicate", summary: "Duplicate " + second.kind,
		detail: fmt.Sprintf("%s is already declared at %s.", strings.TrimSuffix(second.title(), ` ""`), place(first.header)),
		rng:    second.header,
	})
}

// checkName reports whether references can spell a declaration's name. If not, it adds a finding.
func (l *loader) checkName(d *decl) bool {
	if d.block == nil || d.kind == "fevalgraph" {
		return true
	}
	label := len(d.path) - 1
	if hclsyntax.ValidIdentifier(d.path[label]) {
		return true
	}
	l.report(finding{
		code: "bad-name", summary: "Bad name",
		detail: fmt.Sprintf("%q cannot be referred to: a label is made of letters, digits, \"_\" and \"-\" and begins with a letter or \"_\".", d.path[label]),
		hint:   nameHint(d.kind), rng: d.block.LabelRanges[label],
	})
	return false
}

func nameHint(kind string) string {
	if kind == "problem" || kind == "solution" {
		return "the attribute name takes any text"
	}
	return ""
}

// declareFunction makes a function block callable. Its result is evaluated at each call, in the scope of the
// block's own references.
func (l *loader) declareFunction(d *decl) {
	for _, a := range d.schema.Attributes {
		if a.Required && d.block.Body.Attributes[a.Name] == nil {
			d.failed = true
			return
		}
	}
	if _, taken := l.builtins(d.src.dir)[d.name()]; taken {
		l.report(finding{
			code: "duplicate", summary: "Duplicate function",
			detail: fmt.Sprintf("%s is a function of the language.", d.name()), rng: d.header,
		})
		d.failed = true
		return
	}
	alone := &hclsyntax.Body{Blocks: []*hclsyntax.Block{d.block}, SrcRange: d.block.Range(), EndRange: d.block.CloseBraceRange}
	made, _, problems := userfunc.DecodeUserFunctions(alone, "function", func() *hcl.EvalContext { return l.scope(d) })
	for _, p := range problems {
		l.reportHCL(p, "bad-function")
		d.failed = true
	}
	if f, ok := made[d.name()]; ok {
		l.functions[d.name()] = f
	}
}

func (l *loader) topSchema(name string) *BlockSchema {
	for i := range l.schema {
		if l.schema[i].Name == name {
			return &l.schema[i]
		}
	}
	return nil
}

// drivers returns the names of the driver blocks. A problem has exactly one of them.
func drivers(schema *BlockSchema) []string {
	var names []string
	for _, b := range schema.Blocks {
		if problemDrivers()[b.Name] != nil {
			names = append(names, b.Name)
		}
	}
	return names
}

// place formats a range as "file:line".
func place(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }

// allDeclarations iterates over all declarations, with the locals of blocks.
func (l *loader) allDeclarations() iter.Seq[*decl] {
	return func(yield func(*decl) bool) {
		for _, d := range l.decls {
			if !yield(d) {
				return
			}
			for _, own := range d.own {
				if !yield(own) {
					return
				}
			}
		}
	}
}
