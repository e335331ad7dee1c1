package lang

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

const (
	sessionFactor  = 10 // default session limit, in limits of one test
	sessionMinimum = 60 * time.Second
)

// checkpoint reads one checkpoint; place is its position in the file, from 1.
func (b *block) checkpoint(place int, down inheritedSettings) *Checkpoint {
	c := &Checkpoint{Name: b.label(), Range: convertRange(b.header)}
	b.checkName()
	c.Order = b.orderOr(place)
	c.Version, _ = b.integer("version")
	c.State, _ = b.text("state")
	c.Spec = b.specOr(down.problem.Spec)
	c.IncludePriorTests, _ = b.truth("include_prior_tests")

	c.Tests = b.testFiles(down.problem.Pytest)
	b.timeouts(c, down)
	if c.Before = down.before; b.attrs["before"] != nil {
		c.Before, _ = b.text("before")
	}

	env, _ := b.env("env")
	c.Env = mergeEnv(down.env, env)
	c.Markers = slices.Clone(down.markers)
	for _, m := range b.markers() {
		c.Markers = replace(c.Markers, m, func(x Marker) bool { return x.Name == m.Name })
	}
	c.Assets = slices.Clone(down.assets)
	for _, a := range b.assets(c.Name) {
		c.Assets = replace(c.Assets, a, func(x Asset) bool { return x.Name == a.Name })
	}
	b.eachTargetOnce(c.Assets)
	c.Pass = down.pass
	if pass := b.singleBlock("pass"); pass != nil {
		c.Pass = pass.pass()
	}
	return c
}

// specOr returns the path of a checkpoint's task text, or by default that of the problem.
func (b *block) specOr(problem string) string {
	if b.attrs["spec"] == nil {
		return problem
	}
	own, _ := b.path("spec")
	return own
}

// checkName checks the name of a checkpoint.
func (b *block) checkName() {
	if name := b.label(); name == "" || strings.ContainsAny(name, "/\\\x00") || strings.TrimSpace(name) != name {
		b.fail(finding{
			code: "bad-name", summary: "Bad name", rng: b.header,
			detail: fmt.Sprintf("%q cannot name a checkpoint: files are named after it.", name),
		})
	}
}

// orderOr returns a checkpoint's order among the others, by default its position in the file.
func (b *block) orderOr(place int) int {
	order, g := b.integer("order")
	if g == isAbsent || g == isNull {
		return place
	}
	return order
}

// timeouts replaces the problem's limits by those of the checkpoint; a null means no limit.
func (b *block) timeouts(c *Checkpoint, down inheritedSettings) {
	c.Timeout = down.timeout
	if own, g := b.duration("timeout"); g == isSet || g == isNull {
		c.Timeout = own
	}
	own, g := b.duration("session_timeout")
	if g == isAbsent {
		own, g = down.sessionTimeout, down.session
	}
	if g == isAbsent && c.Timeout > 0 {
		own = max(sessionFactor*c.Timeout, sessionMinimum)
	}
	c.SessionTimeout = own
}

// replace replaces the element for which same returns true by v, or appends v.
func replace[T any](list []T, v T, same func(T) bool) []T {
	if at := slices.IndexFunc(list, same); at >= 0 {
		list[at] = v
		return list
	}
	return append(list, v)
}

var markerName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (b *block) markers() []Marker {
	all := b.children("marker")
	b.eachNameOnce(all)
	var made []Marker
	for _, m := range all {
		marker := Marker{Name: m.label(), Range: convertRange(m.header)}
		m.fill(&marker)
		if !markerName().MatchString(marker.Name) {
			m.fail(finding{
				code: "bad-name", summary: "Bad marker name", rng: m.header,
				detail: fmt.Sprintf("%q cannot be a pytest marker: it must be a Python identifier.", marker.Name),
			})
		}
		made = append(made, marker)
	}
	return made
}

// pass reads a pass block.
func (b *block) pass() Pass {
	p := Pass{Range: convertRange(b.header)}
	policy, g := b.text("policy")
	p.When = b.expression("when", CheckpointShape, true)
	switch hasWhen := b.attrs["when"] != nil; {
	case g == isFailed:
	case (g == isSet) == hasWhen:
		b.fail(finding{
			code: "missing-attribute", summary: "Invalid combination of attributes", rng: b.header,
			detail: "A pass block has exactly one of policy and when.",
		})
	default:
		p.Policy = policy
	}
	return p
}
