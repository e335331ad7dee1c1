package lang

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Console evaluates expressions over a loaded configuration. It is not safe for concurrent use.
type Console struct{ l *loader }

// NewConsole loads a configuration. The console works with every declaration that could be evaluated, even
// if there are findings; it is nil only if a file could not be read or parsed.
func NewConsole(o Options) (*Console, diag.List) {
	l := newLoader(context.Background(), o)
	l.load()
	l.findings.Sort()
	if l.unresolved {
		return nil, l.findings
	}
	return &Console{l}, l.findings
}

const consoleFile = "console"

// Eval evaluates one expression and returns its value as HCL text, with sensitive parts masked. Relative
// paths start at the project's root.
func (c *Console) Eval(expression string) (string, diag.List) {
	src := &source{shown: consoleFile, dir: c.l.root, bytes: []byte(expression)}
	fresh := newReporter() // findings of loading have already been printed
	fresh.sensitive = c.l.sensitive
	c.l.reporter = fresh
	c.l.shown[src.shown] = src
	expr, problems := parseExpression(src.bytes, src.shown)
	for _, p := range problems {
		c.l.reportHCL(p, "syntax")
	}
	if problems.HasErrors() {
		return "", c.l.findings
	}
	expr = guardExpr(expr)
	clear(c.l.bad) // ranges of an earlier expression can be the same
	d := &decl{kind: "console", path: []string{""}, src: src, whole: map[string]bool{}, value: cty.DynamicVal}
	c.l.resolveExpr(d, expr, names{})
	b := &block{l: c.l, src: src, decl: d, ctx: c.l.scope(d)}
	v, ok := b.evaluate(expr)
	if !ok && len(c.l.findings) == 0 {
		c.l.report(finding{
			code: "unknown-value", summary: "No value", rng: expr.Range(),
			detail: "It depends on a part of the configuration that has an error.", hint: "`fevalgraph validate` shows it",
		})
	}
	c.l.findings.Sort()
	if !ok {
		return "", c.l.findings
	}
	return valueText(v), c.l.findings
}
