package lang

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// ReferenceName is the name of the solutions that problems ship, and of the suite of all of them.
const ReferenceName = "reference"

// addReferences adds the solutions that problems ship and their suite, each on
// the first backend that can evaluate it.
func (l *loader) addReferences() {
	suite := &Suite{Name: ReferenceName, Description: "The solutions that problems ship.", Implicit: true}
	for _, s := range l.config.Suites {
		if s.Name == ReferenceName {
			l.report(finding{
				code: "duplicate", summary: "Duplicate name", rng: hclRange(s.Range),
				detail: fmt.Sprintf("The suite of the solutions that problems ship is also named %q.", ReferenceName), hint: "give this one another name",
			})
		}
	}
	for _, s := range l.config.Solutions {
		if slices.ContainsFunc(s.Problem.References, func(r *Reference) bool { return r.Name == s.Name }) {
			l.report(finding{
				code: "duplicate", summary: "Duplicate name", rng: hclRange(s.Range),
				detail: fmt.Sprintf("%s is named %q, which is the name of a solution that %s ships.", s.Ref, s.Name, s.Problem.Ref), hint: "give it another name = …",
			})
		}
	}
	for _, p := range l.config.Problems {
		if len(p.References) == 0 {
			continue
		}
		b := l.referenceBackend(p)
		if b == nil {
			continue // reported
		}
		for _, r := range p.References {
			s := &Solution{Name: r.Name, Ref: r.Name + " of " + p.Ref, Problem: p, Missing: "error", Solver: r.Solver, Checkpoints: r.Checkpoints, Range: r.Range}
			if s.filesByDefault(); s.Solver != nil {
				s.Ignore = nil // the artifacts are the answer
			}
			if s.Solver != nil && b.Container == nil {
				s.unusable(fmt.Sprintf("%s runs in the container of agents, which requires a docker backend, but %s is the first backend; declare one, or write reference blocks", r.Name, b.Addr()))
			}
			l.config.Solutions = append(l.config.Solutions, s)
			for repeat := range l.options.References {
				suite.Cells = append(suite.Cells, Cell{Solution: s, Backend: b, Repeat: repeat + 1})
			}
		}
	}
	l.config.Suites = append(l.config.Suites, suite)
}

// Expected results of references.
const (
	ExpectPass = "pass"
	ExpectFail = "fail"
)

// references reads the solutions that a problem ships. The problem's checkpoints must be known.
func (b *block) references(p *Problem) {
	all := b.children("reference")
	if len(all) == 0 {
		p.References = b.madeReferences(p)
	}
	for _, one := range all {
		r := one.readReference(p)
		if slices.ContainsFunc(p.References, func(other *Reference) bool { return other.Name == r.Name }) {
			one.fail(finding{code: "duplicate", summary: "Duplicate reference", rng: one.header,
				detail: fmt.Sprintf("%s has a reference named %q already.", p.Ref, r.Name), hint: `write such as name = "cheat"`})
			continue
		}
		p.References = append(p.References, r)
	}
}

// readReference reads one of them.
func (b *block) readReference(p *Problem) *Reference {
	r := &Reference{Name: b.displayName(ReferenceName), Range: convertRange(b.header)}
	for _, c := range p.Checkpoints {
		at := *b
		at.ctx = b.ctx.NewChild()
		at.ctx.Variables = map[string]cty.Value{"checkpoint": checkpointValue(c)}
		answer := SolutionCheckpoint{Checkpoint: c, Entry: p.Entry}
		if answer.From = at.filesOutput("source"); answer.From != nil {
			if p.Judge != nil {
				at.judgeableOutput(p, answer.From)
			}
		} else if source, g := at.path("source"); g == isSet {
			if _, ok := at.stat("source", source, ""); ok {
				at.judgeable(p, source)
			}
			answer.Source = source
		}
		r.Checkpoints = append(r.Checkpoints, answer)
	}
	b.expectedResult(r, p)
	if !p.GivesScores() && strings.TrimSpace(p.Entry) == "" && len(p.Checkpoints) > 0 && p.NeedsEntry() {
		b.fail(finding{code: "missing-attribute", summary: "No entry", rng: b.header,
			detail: p.Ref + " has no entry, the command that starts its reference.", hint: `write such as entry = "python main.py" into the problem`})
	}
	return r
}

// expectedResult reads the expected result.
func (b *block) expectedResult(r *Reference, p *Problem) {
	r.Expect, _ = b.text("expect")
	low, high, isRange := strings.Cut(r.Expect, "..")
	switch {
	case r.Expect == ExpectPass || r.Expect == ExpectFail:
		if p.Scored() {
			r.Low = fullScore
		}
		if score, g := b.number("score"); g == isSet && p.Scored() {
			r.Low = score
			return
		}
	case isRange && p.GivesScores():
		var ok bool
		if r.Low, r.High, ok = bounds(low, high); !ok {
			b.reject("expect", "bad-value", "Bad range", fmt.Sprintf("%q is not a range of scores from a lower to a higher number.", r.Expect), `write such as "20..80", "60.." or "..0"`)
		}
	case isRange:
		b.reject("expect", "bad-value", "No scores", p.Ref+" gives no scores.", `write "pass" or "fail"`)
	default:
		b.reject("expect", "bad-value", "Bad value", fmt.Sprintf("expect is \"pass\", \"fail\" or a range of scores, not %q.", r.Expect), `write such as "fail" or "20..80"`)
	}
	if b.attrs["score"] != nil {
		b.reject("score", "unknown-attribute", "Attribute does not apply", "score applies to judge and command problems, with expect = \"pass\" or \"fail\". Checkpoints of other problems pass by their policy.", "remove it")
	}
}

// bounds reads a range. A missing end means infinity, but at least one end is required.
func bounds(low, high string) (from, to float64, ok bool) {
	from, to = math.Inf(-1), math.Inf(1)
	read := func(text string, into *float64) bool {
		if strings.TrimSpace(text) == "" {
			return true
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		*into = n
		return err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
	}
	ok = read(low, &from) && read(high, &to)
	return from, to, ok && from <= to && strings.TrimSpace(low+high) != ""
}
