package lang

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/zclconf/go-cty/cty"
)

// maxRepeat prevents a typo from filling the memory with cells.
const maxRepeat = 10_000

func (l *loader) evaluateSuite(d *decl) cty.Value {
	s := &Suite{Name: d.name(), Range: convertRange(d.header)}
	l.instances.suites[d.addr()] = s
	d.made = s
	l.suite(d, s)
	value := map[string]cty.Value{"ref": cty.StringVal(d.addr()), "name": cty.StringVal(s.Name)}
	if !d.failed && slices.ContainsFunc(l.decls, func(other *decl) bool {
		return other.kind == "task" && slices.ContainsFunc(other.needs, func(n need) bool { return n.to == d })
	}) { // possibly very many; only tasks use them
		cells := map[string]cty.Value{}
		for _, c := range s.Cells {
			cells[c.name()] = l.cellValue(c)
		}
		value["cells"] = cty.ObjectVal(cells)
	}
	return cty.ObjectVal(value)
}

// name returns the key of a cell among those of a suite.
func (c Cell) name() string {
	name := fmt.Sprintf("%s/%s@%s", c.Solution.Problem.Name, c.Solution.Name, c.Backend.Addr())
	if c.Repeat > 1 {
		name += fmt.Sprintf("#%d", c.Repeat)
	}
	return name
}

// suite reads the cells of a suite.
func (l *loader) suite(d *decl, s *Suite) {
	if d.block == nil {
		s.Implicit = true
		s.Cells = l.runnable(cross(l.everySolution(), l.everyBackend(), true, 1), func(p *Problem, f finding) {
			f.rng = hclRange(p.Range)
			l.report(f)
		})
		return
	}
	b := l.open(d, d.block, d.schema, l.scope(d))
	b.fill(s)
	repeat, _ := b.integer("repeat")
	if repeat > maxRepeat {
		b.reject("repeat", "out-of-range", "Number out of range", fmt.Sprintf("repeat must be at most %d, not %d.", maxRepeat, repeat), "")
		repeat = 1
	}
	s.Retry = b.retry()
	b.shard(s)
	cells := l.runnable(b.matrix(repeat), func(_ *Problem, f finding) {
		f.rng = d.header
		b.fail(f)
	})
	b.exclude(s, cells)
	if len(s.Cells) == 0 && !d.failed && !l.anyFailed("solution", "backend") {
		detail := "No cells are left to judge."
		if len(s.Excluded) > 0 {
			detail = "Every cell is excluded."
		}
		b.fail(finding{warning: true, code: "empty-suite", summary: "Suite without cells", detail: detail, rng: d.header})
	}
}

var shardText = lazyregexp.New(`^([0-9]+)/([0-9]+)$`)

func (b *block) shard(s *Suite) {
	text, g := b.text("shard")
	if g != isSet {
		return
	}
	if m := shardText().FindStringSubmatch(text); m != nil {
		i, errI := strconv.Atoi(m[1])
		n, errN := strconv.Atoi(m[2])
		if errI == nil && errN == nil && 1 <= i && i <= n {
			s.ShardIndex, s.ShardCount = i, n
			return
		}
	}
	b.reject("shard", "bad-value", "Bad shard", fmt.Sprintf("%q is not a shard.", text), `write "I/N" with I from 1 to N, such as "1/4"`)
}

// exclude divides cells into those of the suite and those that an exclude block removes, with the first
// reason that applies.
func (b *block) exclude(s *Suite, cells []Cell) {
	rules := b.children("exclude")
cells:
	for _, cell := range cells {
		for _, rule := range rules {
			at := *rule
			at.ctx = rule.ctx.NewChild()
			at.ctx.Variables = map[string]cty.Value{"cell": b.l.cellValue(cell)}
			when, g := at.truth("when")
			if g == isNull {
				at.reject("when", "wrong-type", "Wrong type", "when must be true or false, not null.", "")
			}
			if g == isSet && when {
				reason, _ := at.text("reason")
				s.Excluded = append(s.Excluded, ExcludedCell{Cell: cell, Reason: reason})
				continue cells
			}
		}
		s.Cells = append(s.Cells, cell)
	}
}

// cellValue returns the value of cell in the scope of an exclude block.
func (l *loader) cellValue(c Cell) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"solution": l.instances.values[c.Solution.Ref],
		"backend":  l.instances.values["backend."+c.Backend.Addr()],
		"problem":  l.instances.values[c.Solution.Problem.Ref],
		"repeat":   cty.NumberIntVal(int64(c.Repeat)),
	})
}

// anyFailed reports whether a declaration of one of the kinds has failed: an empty suite then needs no
// finding.
func (l *loader) anyFailed(kinds ...string) bool {
	for _, d := range l.decls {
		for _, kind := range kinds {
			if d.kind == kind && d.failed {
				return true
			}
		}
	}
	return false
}
