package lang

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/zclconf/go-cty/cty"
)

// problemDrivers returns the function that reads each driver block. A driver is one entry here and one block
// in problemSchema.
func problemDrivers() map[string]func(*block, *Problem) {
	return map[string]func(*block, *Problem){
		"pytest":  func(b *block, p *Problem) { p.Pytest = b.pytest() },
		"judge":   func(b *block, p *Problem) { p.Judge = b.judge() },
		"command": func(b *block, p *Problem) { p.Command = b.command() },
		// Its attributes are read for each checkpoint.
		"verifier": func(b *block, p *Problem) { p.Verified = true },
	}
}

func (l *loader) evaluateProblem(d *decl) cty.Value {
	var made []*Problem
	keeps := l.keepsErrors(d)
	insts := l.expandEach(d)
	for _, inst := range insts {
		if l.ctx.Err() != nil {
			break
		}
		made = append(made, l.attemptProblem(d, inst, keeps))
	}
	if keeps {
		l.keepSharedNames(d, insts, made)
	}
	values := make([]cty.Value, len(made))
	for i, p := range made {
		values[i] = problemValue(p)
		l.instances.problems[p.Ref], l.instances.values[p.Ref] = p, values[i]
	}
	d.made = made
	return collect(insts, values, problemValue(&Problem{}).Type())
}

// inheritedSettings contains the settings that checkpoints inherit from a problem.
type inheritedSettings struct {
	problem        *Problem
	timeout        time.Duration
	sessionTimeout time.Duration
	session        presence // of sessionTimeout
	before         string
	env            []EnvVar
	markers        []Marker
	assets         []Asset
	pass           Pass
}

func (l *loader) problem(d *decl, inst instance) *Problem {
	d.attempt.scope = l.evaluateOwn(d, inst.ctx)
	p := &Problem{Ref: inst.ref(d), Range: convertRange(d.header)}
	if !l.preconditionsMet(d) {
		p.Name = l.nameOf(d, inst)
		return p
	}
	rest := bodyOf(d.block.Body, func(kind string) bool { return kind != "precondition" })
	rest.Attributes = d.block.Body.Attributes
	b := l.openBody(d, rest, d.block.Labels, d.header, d.schema, d.attempt.scope)
	b.read("problem", p)
	p.Name = b.displayName(inst.name(d))
	b.fill(p)
	if p.Release == "" && b.attrs["version"] != nil {
		p.Release = strconv.Itoa(p.Version)
	}
	p.Resources = b.resources()
	if seen := b.singleBlock("seen"); seen != nil {
		p.Seen = seen.seenBlock()
	}
	b.driver(p)
	b.driverParts(p)
	return p
}

// driverParts reads the blocks and attributes that belong to the problem's driver.
func (b *block) driverParts(p *Problem) {
	if p.Scored() {
		b.nameless(p)
		return
	}
	if p.Verified {
		b.verifiedCheckpoints(p)
		return
	}
	down := inheritedSettings{problem: p}
	down.timeout, _ = b.duration("timeout")
	down.sessionTimeout, down.session = b.duration("session_timeout")
	down.env, _ = b.env("env")
	down.before, _ = b.text("before")
	down.markers = b.markers()
	down.assets = b.assets("")
	down.pass = Pass{Policy: defaultPolicy}
	if pass := b.singleBlock("pass"); pass != nil {
		down.pass = pass.pass()
	}
	b.checkpoints(p, down)
	if p.Pytest != nil {
		b.references(p)
	}
}

// nameOf returns the name of an instance without evaluating anything else, so that the instance has the same
// name with and without errors.
func (l *loader) nameOf(d *decl, inst instance) string {
	quiet := d.forInstance(l.reporterFor(""))
	b := &block{l: l, src: d.src, decl: quiet, schema: d.schema, attrs: d.block.Body.Attributes, ctx: quiet.attempt.scope, header: d.header}
	return b.displayName(inst.name(d))
}

// driver reads the one driver block of the problem.
func (b *block) driver(p *Problem) {
	var found []*block
	for _, name := range drivers(b.schema) {
		if only := b.singleBlock(name); only != nil {
			found = append(found, only)
		}
	}
	switch {
	case len(found) == 1:
		problemDrivers()[found[0].schema.Name](found[0], p)
	case len(found) == 0 && !b.decl.failed:
		b.fail(finding{
			code: "missing-block", summary: "Problem without a driver", rng: b.header,
			detail: "A problem must have exactly one block that defines how it is judged.",
			hint:   "available: " + strings.Join(drivers(b.schema), ", "),
		})
	case len(found) > 1 && !b.decl.failed: // at least one was read
		b.fail(finding{
			code: "conflict", summary: "Duplicate driver", rng: found[1].header,
			detail: fmt.Sprintf("A problem must have exactly one block that defines how it is judged; this one has a %s and a %s.", found[0].schema.Name, found[1].schema.Name),
			hint:   "remove one of them",
		})
	}
}

// Kind returns the name of p's driver block, or "" if p has an error.
func (p *Problem) Kind() string {
	switch {
	case p.Pytest != nil:
		return "pytest"
	case p.Judge != nil:
		return "judge"
	case p.Command != nil:
		return "command"
	case p.Verified:
		return "verifier"
	}
	return ""
}

// Scored reports whether p gives a single score. It then has one checkpoint, which has no name.
func (p *Problem) Scored() bool { return p.Judge != nil || p.Command != nil }

// GivesScores reports whether p gives a score for each of its checkpoints. Its solutions have no entry.
func (p *Problem) GivesScores() bool { return p.Scored() || p.Verified }

// NeedsEntry reports whether solutions of p need an entry, a command that starts them: tests can import them
// instead.
func (p *Problem) NeedsEntry() bool {
	return !p.GivesScores() && (p.Pytest == nil || p.Pytest.Import == "")
}

// hintEntry is the hint for a solution without an entry.
const hintEntry = `write such as entry = "python main.py", or, if the tests import the solution, import = "separate" in the pytest block`

// nameless adds the checkpoint of a problem that gives scores. Attributes that only tests of pytest
// problems use are errors: they would have no effect.
func (b *block) nameless(p *Problem) {
	for _, kid := range b.kids {
		switch kid.schema.Name {
		case "asset":
			if p.Command != nil {
				continue
			}
			fallthrough
		case "marker", "checkpoint":
			kid.fail(finding{
				code: "unknown-block", summary: "Block does not apply", rng: kid.header,
				detail: fmt.Sprintf("A problem with a %s block has no %s.", p.Kind(), kid.schema.Name),
				hint:   "remove it",
			})
		}
	}
	for _, name := range []string{"entry", "timeout", "session_timeout", "env", "before"} {
		if attr := b.attrs[name]; attr != nil {
			b.fail(finding{
				code: "unknown-attribute", summary: "Attribute does not apply", rng: attr.NameRange,
				detail: fmt.Sprintf("A problem with a %s block has no %s.", p.Kind(), name),
				hint:   "remove it",
			})
		}
	}
	c := &Checkpoint{Order: 1, Version: p.Version, Spec: p.Spec, Pass: Pass{Policy: scoredPolicy, Range: p.Range}, Range: p.Range}
	if pass := b.singleBlock("pass"); pass != nil {
		c.Pass = pass.pass()
	}
	if p.Command != nil {
		b.commandCheckpoint(p, c)
	}
	p.Checkpoints = []*Checkpoint{c}
	b.references(p)
}

// checkpoints reads the checkpoint blocks and sorts them by order and name.
func (b *block) checkpoints(p *Problem, down inheritedSettings) {
	all := b.children("checkpoint")
	if _, read := b.l.instances.read[p]; len(all) == 0 && !read { // the Reader's form specifies it
		all = b.discoverCheckpoints(p.Pytest)
	}
	if len(all) == 0 && !b.decl.failed {
		b.fail(finding{
			code: "missing-block", summary: "Problem without checkpoints", rng: b.header,
			detail: "A problem needs at least one checkpoint.", hint: `write checkpoint "checkpoint_1" { }`,
		})
	}
	b.eachNameOnce(all)
	for i, c := range all {
		p.Checkpoints = append(p.Checkpoints, c.checkpoint(i+1, down))
	}
	p.sortCheckpoints()
}

func (p *Problem) sortCheckpoints() {
	slices.SortStableFunc(p.Checkpoints, func(x, y *Checkpoint) int {
		return cmp.Or(cmp.Compare(x.Order, y.Order), cmp.Compare(x.Name, y.Name))
	})
}

// eachNameOnce reports blocks of one kind with equal labels.
func (b *block) eachNameOnce(all []*block) {
	first := map[string]*block{}
	for _, c := range all {
		if before := first[c.label()]; before != nil {
			c.fail(finding{
				code: "duplicate", summary: "Duplicate " + c.schema.Name, rng: c.header,
				detail: fmt.Sprintf("%s is already declared at %s.", blockTitle(c.schema.Name, c.labels), place(before.header)),
			})
			continue
		}
		first[c.label()] = c
	}
}

// displayName reads the name attribute.
func (b *block) displayName(otherwise string) string {
	name, g := b.text("name")
	if g != isSet {
		return otherwise
	}
	if name == "" || strings.TrimSpace(name) != name || strings.ContainsFunc(name, unicode.IsControl) {
		b.reject("name", "bad-name", "Bad name", fmt.Sprintf("%q cannot be a name: it must not be empty, begin or end with a space, or contain control characters.", name), "")
		return otherwise
	}
	return name
}

// problemValue returns the value of a reference to p.
func problemValue(p *Problem) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"ref":         cty.StringVal(p.Ref),
		"kind":        cty.StringVal(p.Kind()),
		"name":        cty.StringVal(p.Name),
		"title":       cty.StringVal(p.Title),
		"description": cty.StringVal(p.Description),
		"version":     cty.NumberIntVal(int64(p.Version)),
		"tags":        textList(p.Tags),
		"author":      cty.StringVal(p.Author),
		"difficulty":  cty.StringVal(p.Difficulty),
		"category":    cty.StringVal(p.Category),
		"entry":       cty.StringVal(p.Entry),
		"checkpoints": checkpointList(p.Checkpoints),
	})
}

func checkpointList(all []*Checkpoint) cty.Value {
	if len(all) == 0 {
		return cty.ListValEmpty(cty.Object(map[string]cty.Type{"name": cty.String, "order": cty.Number, "version": cty.Number}))
	}
	values := make([]cty.Value, len(all))
	for i, c := range all {
		values[i] = checkpointValue(c)
	}
	return cty.ListVal(values)
}

// checkpointValue returns the value of checkpoint in the scope of a solution.
func checkpointValue(c *Checkpoint) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"name":    cty.StringVal(c.Name),
		"order":   cty.NumberIntVal(int64(c.Order)),
		"version": cty.NumberIntVal(int64(c.Version)),
	})
}

func textList(texts []string) cty.Value {
	if len(texts) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	values := make([]cty.Value, len(texts))
	for i, t := range texts {
		values[i] = cty.StringVal(t)
	}
	return cty.ListVal(values)
}
