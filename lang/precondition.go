package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// preconditionsMet checks the preconditions of an instance, including those from dynamic blocks, and
// reports each violation. A precondition with an unknown value, because of another error, is not met
// either.
func (l *loader) preconditionsMet(d *decl) bool {
	before := d.failed
	d.failed = false
	rules := bodyOf(d.block.Body, func(kind string) bool { return kind == "precondition" })
	for _, rule := range l.openBody(d, rules, nil, d.header, d.schema, d.attempt.scope).kids {
		rule.precondition()
	}
	met := !d.failed
	d.failed = d.failed || before
	return met
}

func (b *block) precondition() {
	holds, g := b.truth("condition")
	if g != isSet || holds {
		return
	}
	f := b.at("condition")
	f.code, f.summary, f.detail = "precondition", "Precondition not met", "The condition is false."
	if message, g := b.text("error_message"); g == isSet && strings.TrimSpace(message) != "" {
		f.detail = strings.TrimSpace(message)
	}
	severity, _ := b.text("severity")
	f.warning = severity == "warning"
	b.fail(f)
}

// bodyOf returns the literal and dynamic blocks of some kinds in a body, without attributes.
func bodyOf(body *hclsyntax.Body, wanted func(kind string) bool) *hclsyntax.Body {
	part := &hclsyntax.Body{SrcRange: body.SrcRange, EndRange: body.EndRange}
	for _, b := range body.Blocks {
		kind := b.Type
		if kind == "dynamic" && len(b.Labels) == 1 {
			kind = b.Labels[0]
		}
		if wanted(kind) {
			part.Blocks = append(part.Blocks, b)
		}
	}
	return part
}
