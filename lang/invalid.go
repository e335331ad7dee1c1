package lang

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// attempt is the evaluation of one instance of a declaration.
type attempt struct {
	kept  *reporter        // of its mistakes, when they are its own; nil when they are the configuration's
	scope *hcl.EvalContext // what the instance's expressions see; nil before its locals are evaluated
}

// apart is d for the time of evaluating one instance: what fails there does
// not fail d.
func (d *decl) apart(kept *reporter) *decl {
	own := *d
	own.attempt = &attempt{kept: kept}
	if d.attempt != nil {
		own.attempt.scope = d.attempt.scope
	}
	return &own
}

// reporterFor is a reporter of the mistakes of one instance alone.
func (l *loader) reporterFor(ref string) *reporter {
	return &reporter{shown: l.shown, instance: ref, reported: map[reportKey]bool{}, sensitive: l.sensitive}
}

// reporterOf is where mistakes of a declaration go.
func (l *loader) reporterOf(d *decl) *reporter {
	if d.attempt != nil && d.attempt.kept != nil {
		return d.attempt.kept
	}
	return &l.reporter
}

// mistakes are the findings that stay with an instance, sorted by place; nil
// when none is an error.
func (a *attempt) mistakes() diag.List {
	if a.kept == nil || !a.kept.findings.HasErrors() {
		return nil
	}
	a.kept.findings.Sort()
	return a.kept.findings
}

// keepsMistakes reports whether an instance with a mistake is an error of that
// instance alone.
func (l *loader) keepsMistakes(d *decl) bool {
	b := &block{l: l, src: d.src, decl: d, schema: d.schema, attrs: d.block.Body.Attributes, ctx: l.scope(d), header: d.header}
	mode, g := b.text("invalid")
	return g == isSet && mode == "report"
}
