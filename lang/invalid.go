package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// attempt is the evaluation of one instance of a declaration.
type attempt struct {
	kept  *reporter        // collects the instance's errors; nil if they belong to the configuration
	scope *hcl.EvalContext // scope of the instance's expressions; nil before its locals are evaluated
}

// forInstance returns a copy of d for evaluating one instance: failures of the copy do not fail d.
func (d *decl) forInstance(kept *reporter) *decl {
	own := *d
	own.attempt = &attempt{kept: kept}
	if d.attempt != nil {
		own.attempt.scope = d.attempt.scope
	}
	return &own
}

// reporterFor returns a reporter for the errors of one instance.
func (l *loader) reporterFor(ref string) *reporter {
	return &reporter{shown: l.shown, instance: ref, reported: map[reportKey]bool{}, sensitive: l.sensitive}
}

// reporterOf returns the reporter for errors of a declaration.
func (l *loader) reporterOf(d *decl) *reporter {
	if d.attempt != nil && d.attempt.kept != nil {
		return d.attempt.kept
	}
	return &l.reporter
}

// instanceFindings returns the findings that stay with an instance, sorted by position, or nil if no finding is an
// error.
func (a *attempt) instanceFindings() diag.List {
	if a.kept == nil || !a.kept.findings.HasErrors() {
		return nil
	}
	a.kept.findings.Sort()
	return a.kept.findings
}

// attemptProblem evaluates an instance. With keeps, its errors stay with it.
func (l *loader) attemptProblem(d *decl, inst instance, keeps bool) *Problem {
	at := d.forInstance(nil)
	if keeps {
		at = d.forInstance(l.reporterFor(inst.ref(d)))
	}
	p := l.problem(at, inst)
	if keeps && !l.findings.HasErrors() {
		at.attempt.kept.reportDoubt()
	}
	if mistakes := at.attempt.instanceFindings(); len(mistakes) > 0 {
		p.invalidate(mistakes)
		return p
	}
	if keeps { // warnings
		l.findings = append(l.findings, at.attempt.kept.findings...)
	}
	d.failed = d.failed || at.failed
	return p
}

// invalidate removes from a problem the parts that must not be used any more.
func (p *Problem) invalidate(mistakes diag.List) {
	p.Invalid = append(p.Invalid, mistakes...)
	p.Invalid.Sort()
	p.Pytest, p.Judge, p.Command, p.References, p.Checkpoints = nil, nil, nil, nil, nil
}

// keepSharedNames invalidates each of d's problems that shares its name with another one: a result of that
// name would be ambiguous, so none of them is judged, and each has its default name.
func (l *loader) keepSharedNames(d *decl, insts []instance, made []*Problem) {
	named := map[string][]*Problem{}
	for _, p := range made {
		named[p.Name] = append(named[p.Name], p)
	}
	at := (&block{attrs: d.block.Body.Attributes, header: d.header}).at("name")
	for i, p := range made {
		same := named[p.Name]
		if len(same) == 1 {
			continue
		}
		other := same[0]
		if other == p {
			other = same[1]
		}
		mistake := l.reporterFor(p.Ref)
		mistake.report(finding{
			code: "duplicate", summary: "Duplicate name", rng: at.rng,
			detail: fmt.Sprintf("%s and %s are both named %q.", p.Ref, other.Ref, p.Name),
			hint:   "give one of them another name",
		})
		p.invalidate(mistake.findings)
		p.Name = insts[i].name(d)
	}
}

// keepsErrors reports whether errors in an instance invalidate only that instance.
func (l *loader) keepsErrors(d *decl) bool {
	b := &block{l: l, src: d.src, decl: d, schema: d.schema, attrs: d.block.Body.Attributes, ctx: l.scope(d), header: d.header}
	mode, g := b.text("invalid")
	return g == isSet && mode == "report"
}
