package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

// scopeStatic marks attributes that are evaluated before anything is declared.
const scopeStatic = "static"

// scopeOutside marks attributes that are evaluated once for all instances of
// a block, before any of them exists.
const scopeOutside = "outside"

// referable returns the kinds that a reference can begin with.
func referable() []string {
	return []string{"var", "local", "problem", "solution", "backend", "suite", "pool", "secret", "task"}
}

// declKind returns the kind of declaration for a prefix.
func declKind(prefix string) string {
	if prefix == "var" {
		return "variable"
	}
	return prefix
}

func prefixOf(kind string) string {
	if kind == "variable" {
		return "var"
	}
	return kind
}

// names contains the names in scope besides the declarations.
type names struct {
	each  bool
	scope string          // checkpoint, cell, self, or ""
	local map[string]bool // iterators of dynamic, parameters of a function
	own   bool            // locals in the declaration's block
	from  *decl           // the local that contains the reference, if any
}

func (n names) with(local string) names {
	n.local = maps.Clone(n.local)
	if n.local == nil {
		n.local = map[string]bool{}
	}
	n.local[local] = true
	return n
}

// resolveAll resolves every reference of every declaration.
func (l *loader) resolveAll() {
	for _, d := range l.decls {
		switch {
		case d.attr != nil:
			l.resolveExpr(d, d.attr.Expr, names{})
		case d.block != nil:
			n := names{each: d.schema.Attribute("for_each") != nil && d.block.Body.Attributes["for_each"] != nil, own: true}
			for _, p := range functionParams(d) {
				n = n.with(p)
			}
			l.resolveBody(d, d.block.Body, d.schema, n)
			for _, own := range d.own {
				n.from = own
				if !l.resolveExpr(d, own.attr.Expr, n) {
					own.failed = true
				}
			}
		}
		if d.kind == "generator" && d.block.Body.Attributes["problems"] == nil { // all of them
			for _, other := range l.decls {
				if other.kind == "problem" {
					d.needs = append(d.needs, need{other, d.header})
				}
			}
		}
		if d.kind == "task" && d.block.Body.Attributes["backend"] == nil {
			for _, other := range l.decls {
				if other.kind == "backend" {
					d.needs = append(d.needs, need{other, d.header})
				}
			}
		}
		if d.kind == "solution" && d.block != nil && l.collection(d.block.Body) != nil { // any problem can be the answered one
			for _, other := range l.decls {
				if other.kind == "problem" {
					d.needs = append(d.needs, need{other, d.header})
				}
			}
		}
		if d.kind == "suite" { // the axes missing from a matrix include every declaration
			for _, other := range l.decls {
				if other.kind == "backend" || other.kind == "solution" {
					d.needs = append(d.needs, need{other, d.header})
				}
			}
		}
	}
}

func functionParams(d *decl) []string {
	if d.kind != "function" {
		return nil
	}
	var params []string
	if attr := d.block.Body.Attributes["params"]; attr != nil {
		exprs, _ := hcl.ExprList(attr.Expr)
		for _, e := range exprs {
			params = append(params, hcl.ExprAsKeyword(e))
		}
	}
	if attr := d.block.Body.Attributes["variadic_param"]; attr != nil {
		params = append(params, hcl.ExprAsKeyword(attr.Expr))
	}
	return params
}

func (l *loader) resolveBody(d *decl, body *hclsyntax.Body, schema *BlockSchema, n names) {
	for _, attr := range sortedAttributes(body.Attributes) {
		known := schema.Attribute(attr.Name)
		if known == nil || known.Type == TypeNames || known.Type == TypeType || known.Scope == scopeStatic {
			continue
		}
		here := n
		here.scope = known.Scope
		if known.Scope == scopeOutside {
			here.scope, here.each, here.own = "", false, false
		}
		l.resolveExpr(d, attr.Expr, here)
		if known.Type == TypeExpression {
			l.forbidFiles(attr.Expr)
		}
	}
	for _, b := range body.Blocks {
		if b.Type == "dynamic" && len(b.Labels) == 1 {
			if made := schema.Block(b.Labels[0]); made != nil {
				l.resolveDynamic(d, b, made, n)
			}
			continue
		}
		if inner := schema.Block(b.Type); inner != nil {
			l.resolveBody(d, b.Body, inner, n)
		}
	}
}

func (l *loader) resolveDynamic(d *decl, b *hclsyntax.Block, made *BlockSchema, n names) {
	if attr := b.Body.Attributes["for_each"]; attr != nil {
		l.resolveExpr(d, attr.Expr, n)
	}
	n = n.with(iteratorName(b))
	if attr := b.Body.Attributes["labels"]; attr != nil {
		l.resolveExpr(d, attr.Expr, n)
	}
	for _, inner := range b.Body.Blocks {
		if inner.Type == "content" {
			l.resolveBody(d, inner.Body, made, n)
		}
	}
}

// resolveExpr resolves the references and calls of one expression. An unresolved reference makes the
// expression bad: it is never evaluated.
func (l *loader) resolveExpr(d *decl, expr hclsyntax.Expression, n names) bool {
	ok := true
	for _, t := range expr.Variables() {
		if f := l.resolveTraversal(d, t, n); f != nil {
			l.report(*f)
			ok = false
		}
	}
	for _, call := range calls(expr) {
		if f := l.resolveCall(d, call); f != nil {
			l.report(*f)
			ok = false
		} else if _, made := l.functions[call.Name]; !made && l.byAddr["function."+call.Name] != nil {
			ok = false // its own error is reported already
		}
	}
	if !ok {
		l.bad[expr.Range()] = true
		d.failed = true
	}
	return ok
}

func (l *loader) resolveTraversal(d *decl, t hcl.Traversal, n names) *finding {
	root := t.RootName()
	f := &finding{code: "unknown-reference", summary: "Unknown reference", rng: t.SourceRange()}
	switch {
	case n.local[root], root != "" && root == n.scope:
		return nil
	case root == "each" && n.each:
		return nil
	case root == "path":
		name, rng := stepName(t, 1)
		if name == "root" || name == "module" || name == "" {
			return nil
		}
		f.detail, f.hint, f.rng = fmt.Sprintf("path.%s does not exist.", name), didYouMean(name, []string{"root", "module"}, "path."), rng
		return f
	case root == "each":
		f.detail = "each exists only in the instances of a block with for_each, so not in for_each itself."
		return f
	case root == "local" && len(d.own) > 0:
		if done, f := l.resolveOwn(d, t, n, f); done {
			return f
		}
	case root == "self":
		f.detail = "self exists only with results: in when of pass, where of result, value of metric and prompt of generator."
		return f
	case root == "cell":
		f.detail = "cell exists only in exclude blocks."
		return f
	case root == "checkpoint":
		f.detail = "checkpoint exists only in source, entry and setup of a solution, and in source of a reference."
		return f
	case !slices.Contains(referable(), root):
		return l.unknownRoot(d, t, f)
	}
	return l.resolveDecl(d, t, f)
}

// unknownRoot explains a reference that begins with no known prefix.
func (l *loader) unknownRoot(from *decl, t hcl.Traversal, f *finding) *finding {
	root := t.RootName()
	f.detail = fmt.Sprintf("%q is not defined.", root)
	for _, d := range slices.Concat(from.own, l.decls) {
		if d.name() == root && slices.Contains(referable(), prefixOf(d.kind)) {
			f.detail = fmt.Sprintf("%q is not defined: a reference begins with the kind of block.", root)
			f.hint = fmt.Sprintf("did you mean %s.%s?", prefixOf(d.kind), strings.Join(d.path, "."))
			return f
		}
	}
	f.rng = t[0].SourceRange()
	prefixes := append(referable(), "each", "cell", "self", "path")
	if f.hint = didYouMean(root, prefixes, ""); nearest(root, prefixes) == "" {
		f.hint = "a reference begins with " + strings.Join(prefixes[:len(prefixes)-1], ", ") + " or path"
	}
	if nearest(root, referable()) == "" && len(t) == 1 {
		f.hint = fmt.Sprintf("for a string write %q", root)
	}
	return f
}

// resolveDecl finds the declaration and notes that d needs it.
func (l *loader) resolveDecl(d *decl, t hcl.Traversal, f *finding) *finding {
	kind := declKind(t.RootName())
	labels := referenceLabels(t.RootName())
	var path []string
	for i := 1; i <= labels; i++ {
		name, _ := stepName(t, i)
		if name == "" {
			break
		}
		path = append(path, name)
	}
	if len(path) < labels { // values(solution), backend.local: all of them
		d.whole[kind] = true
		for _, other := range l.decls {
			if other.kind == kind && (len(path) == 0 || other.path[0] == path[0]) {
				d.needs = append(d.needs, need{other, t.SourceRange()})
			}
		}
		return nil
	}
	if to := l.byAddr[kind+"."+strings.Join(path, ".")]; to != nil {
		if to == d && d.kind == "variable" {
			l.use(d.src, to, t, labels)
			return nil // a validation refers to its own variable
		}
		d.needs = append(d.needs, need{to, t.SourceRange()})
		l.use(d.src, to, t, labels)
		return nil
	}
	return l.unknownDecl(d, kind, path, t, f)
}

// unknownDecl explains a reference to an unknown declaration.
func (l *loader) unknownDecl(d *decl, kind string, path []string, t hcl.Traversal, f *finding) *finding {
	name, candidates := strings.Join(path, "."), []string(nil)
	for _, other := range slices.Concat(l.decls, d.own) {
		if other.kind == kind {
			candidates = append(candidates, strings.Join(other.path, "."))
		}
	}
	_, last := stepName(t, len(path))
	f.rng = hcl.RangeBetween(t[0].SourceRange(), last)
	f.detail = fmt.Sprintf("No %s is named %q.", kind, name)
	f.hint = didYouMean(name, candidates, t.RootName()+".")
	if len(candidates) == 0 {
		f.hint = fmt.Sprintf("no %s is declared", kind)
	}
	for _, other := range l.decls {
		if own := other.ownLocal(name); own != nil && kind == "local" {
			f.detail = fmt.Sprintf("local.%s is declared at %s for %s, and exists only there.", name, place(own.header), other.title())
			f.hint = ""
		}
	}
	return f
}

// stepName returns the name at step i of a traversal: .name or ["name"].
func stepName(t hcl.Traversal, i int) (string, hcl.Range) {
	if i >= len(t) {
		return "", hcl.Range{}
	}
	switch s := t[i].(type) {
	case hcl.TraverseAttr:
		return s.Name, s.SrcRange
	case hcl.TraverseIndex:
		if s.Key.Type() == cty.String && s.Key.IsKnown() && !s.Key.IsNull() {
			return s.Key.AsString(), s.SrcRange
		}
	}
	return "", hcl.Range{}
}

func (l *loader) resolveCall(d *decl, call *hclsyntax.FunctionCallExpr) *finding {
	if to := l.byAddr["function."+call.Name]; to != nil {
		d.needs = append(d.needs, need{to, call.NameRange})
		l.uses = append(l.uses, use{to, spanOf(d.src, call.NameRange)})
		return nil
	}
	builtins := l.builtins(d.src.dir)
	if _, ok := builtins[call.Name]; ok {
		return nil
	}
	candidates := slices.Sorted(maps.Keys(builtins))
	for _, other := range l.decls {
		if other.kind == "function" {
			candidates = append(candidates, other.name())
		}
	}
	f := &finding{
		code: "unknown-function", summary: "Unknown function", rng: call.NameRange,
		detail: fmt.Sprintf("No function is named %q.", call.Name),
	}
	if c := nearest(call.Name, candidates); c != "" {
		f.hint = "did you mean " + c + "?"
	}
	return f
}

// forbidFiles rejects reading files in an expression that is evaluated on results: their content would be
// missing from its key.
func (l *loader) forbidFiles(expr hclsyntax.Expression) {
	for _, call := range l.allCalls(expr) {
		if slices.Contains(funcs.FileFunctions(), call.Name) {
			l.report(finding{
				code: "file-in-result", summary: "Files cannot be read here",
				detail: fmt.Sprintf("%s reads files, and this expression is evaluated later, over results.", call.Name),
				hint:   "read the file in locals and refer to local.<name>", rng: call.NameRange,
			})
			l.bad[expr.Range()] = true
		}
	}
}

// allCalls returns the calls in expr and in the functions of the configuration that it calls, to any depth.
func (l *loader) allCalls(expr hclsyntax.Expression) []*hclsyntax.FunctionCallExpr {
	found := calls(expr)
	seen := map[string]bool{}
	for i := 0; i < len(found); i++ {
		d := l.byAddr["function."+found[i].Name]
		if d == nil || seen[d.name()] {
			continue
		}
		seen[d.name()] = true
		if attr := d.block.Body.Attributes["result"]; attr != nil {
			found = append(found, calls(attr.Expr)...)
		}
	}
	return found
}

func calls(expr hclsyntax.Expression) []*hclsyntax.FunctionCallExpr {
	var found []*hclsyntax.FunctionCallExpr
	_ = hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		if call, ok := node.(*hclsyntax.FunctionCallExpr); ok {
			found = append(found, call)
		}
		return nil
	})
	return found
}

// files returns the access of functions to files, relative to a directory.
func (l *loader) files(dir string) funcs.Files {
	return funcs.Files{Dir: dir, Read: l.input, Allowed: l.within, Overlay: l.options.Overlay, Moved: l.options.Moved}
}

// builtins returns the functions of the language for files of dir.
func (l *loader) builtins(dir string) map[string]function.Function {
	if l.libraries[dir] == nil {
		library := funcs.Library(l.files(dir))
		for _, f := range l.options.Functions {
			library[f.Name] = l.callable(f, dir)
		}
		for name, f := range library {
			library[name] = l.budget.Charged(f)
		}
		maps.Copy(library, l.budget.Guards())
		l.libraries[dir] = library
	}
	return l.libraries[dir]
}
