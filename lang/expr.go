package lang

import (
	"fmt"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Expr is an expression that is evaluated over results, which are in scope as self. It is safe for
// concurrent use.
type Expr struct {
	expr   hclsyntax.Expression
	ctx    *hcl.EvalContext
	src    *source
	source string
	mu     *sync.Mutex // functions of the configuration create their scope when first called
}

// Source returns the canonical text for keys: the expression without comments and in canonical form, then a
// line for the value of each reference outside of self, so that a changed variable changes it.
func (e *Expr) Source() string { return e.source }

// Range returns the range of the expression in its file.
func (e *Expr) Range() diag.Range { return convertRange(e.expr.Range()) }

// Eval evaluates the expression over self. Findings have their position; the value is cty.DynamicVal when
// any is an error.
func (e *Expr) Eval(self cty.Value) (cty.Value, diag.List) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ctx := e.ctx.NewChild()
	ctx.Variables = map[string]cty.Value{"self": self}
	v, problems := e.expr.Value(ctx)
	r := newReporter()
	r.shown[e.src.shown] = e.src
	for _, p := range problems {
		if p.Expression == nil {
			p.Expression, p.EvalContext = e.expr, ctx
		}
		r.reportHCL(p, "")
	}
	if problems.HasErrors() {
		return cty.DynamicVal, r.findings
	}
	return v, r.findings
}

// expression returns an attribute as an Expr, in whose evaluation self has the given shape; nil if it is
// absent or invalid. A condition must be a bool.
func (b *block) expression(name string, shape cty.Type, condition bool) *Expr {
	b.schemaOf(name, TypeExpression)
	attr := b.attrs[name]
	if attr == nil {
		return nil
	}
	if b.l.bad[attr.Expr.Range()] {
		b.decl.failed = true
		return nil
	}
	e := &Expr{expr: attr.Expr, ctx: b.ctx, src: b.src, mu: &b.l.calling}
	refs := references{l: b.l, within: b.decl}
	refs.visit(attr.Expr, b.src, b.ctx)
	switch {
	case refs.secret != "":
		b.reject(name, "sensitive-value", "Sensitive value", fmt.Sprintf("%s would hash the sensitive value %q.", name, refs.secret), "")
		return nil
	case refs.unknown:
		b.decl.failed = true
		return nil
	}
	text := canonicalText([]byte(rangeText(b.src, attr.Expr.Range())))
	e.source = strings.Join(append([]string{text}, refs.sortedLines()...), "\n")
	if !b.checkSelf(name, e, shape, condition) {
		return nil
	}
	return e
}

// canonicalText returns an expression without comments and line breaks, spaced like the formatter's output.
func canonicalText(text []byte) string {
	tokens, _ := hclsyntax.LexExpression(text, "", hcl.InitialPos)
	var b strings.Builder
	templates := 0 // inside of "…" and heredocs every byte counts
	interpolations := []int{}
	for i, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenEOF:
			continue
		case hclsyntax.TokenComment:
			b.WriteByte(' ')
			continue
		case hclsyntax.TokenNewline:
			if i > 0 && tokens[i-1].Type == hclsyntax.TokenCHeredoc {
				b.WriteByte('\n') // ends the heredoc
			} else {
				b.WriteByte(' ')
			}
			continue
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			templates++
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			interpolations = append(interpolations, templates)
			templates = 0
		case hclsyntax.TokenTemplateSeqEnd:
			if n := len(interpolations); n > 0 {
				templates, interpolations = interpolations[n-1], interpolations[:n-1]
			}
		}
		b.Write(t.Bytes)
		if t.Type == hclsyntax.TokenCQuote || t.Type == hclsyntax.TokenCHeredoc {
			templates--
		}
		if templates == 0 {
			b.WriteByte(' ')
		}
	}
	return strings.TrimSpace(string(hclwrite.Format([]byte(b.String()))))
}
