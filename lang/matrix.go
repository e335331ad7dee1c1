package lang

import (
	"cmp"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// matrix reads a suite's axes and returns their cells. Missing axes contain every value; they follow the
// axes in the file. A list of pairs replaces the axis of solutions.
func (b *block) matrix(repeat int) []Cell {
	solutions, paired := b.paired()
	if !paired.usable() {
		return nil
	}
	if paired != isSet {
		solutions = b.l.everySolution()
	}
	m := b.singleBlock("matrix")
	if m == nil {
		return cross(solutions, b.l.everyBackend(), true, repeat)
	}
	if !m.solutionAxis(paired == isSet) {
		return nil
	}
	if paired != isSet {
		var g presence
		switch solutions, g = axis(m, "solution", TypeSolutions, b.l.instances.solutions); g {
		case isFailed:
			return nil
		case isNull:
			m.reject("solution", "wrong-type", "Wrong type", "solution must not be null.", "")
			return nil
		}
	}
	backends, g := axis(m, "backend", TypeBackends, b.l.instances.backends)
	if !g.usable() {
		return nil
	}
	if g != isSet {
		backends = b.l.everyBackend()
	}
	solutionFirst := g != isSet || paired == isSet || m.attrs["solution"].SrcRange.Start.Byte < m.attrs["backend"].SrcRange.Start.Byte
	return cross(solutions, backends, solutionFirst, repeat)
}

// solutionAxis checks that a matrix has the axis of solutions exactly if no list of pairs replaces it.
func (b *block) solutionAxis(paired bool) bool {
	switch written := b.attrs["solution"] != nil; {
	case paired && written:
		b.reject("solution", "duplicate", "Invalid combination of attributes", "A suite has either pairs or matrix.solution.", "remove one of the two")
	case !paired && !written:
		b.fail(finding{
			code: "missing-attribute", summary: "Missing attribute", rng: b.header,
			detail: `A matrix block needs the attribute "solution".`, hint: "solution: " + b.schema.Attribute("solution").Doc,
		})
	default:
		return true
	}
	return false
}

// cross returns the cells of two axes, the last axis fastest, repeats innermost.
func cross(solutions []*Solution, backends []*Backend, solutionFirst bool, repeat int) []Cell {
	cells := make([]Cell, 0, len(solutions)*len(backends)*repeat)
	add := func(s *Solution, b *Backend) {
		for r := range repeat {
			cells = append(cells, Cell{Solution: s, Backend: b, Repeat: r + 1})
		}
	}
	if solutionFirst {
		for _, s := range solutions {
			for _, b := range backends {
				add(s, b)
			}
		}
		return cells
	}
	for _, b := range backends {
		for _, s := range solutions {
			add(s, b)
		}
	}
	return cells
}

// axis reads the values along one axis: a single one, or a list, set or map, nested to any depth. Duplicates
// are dropped.
func axis[T any](b *block, name string, kind AttributeType, known map[string]*T) ([]*T, presence) {
	v, g := b.value(b.schemaOf(name, kind))
	if g != isSet {
		return nil, g
	}
	var found []*T
	seen := map[string]bool{}
	var collect func(v cty.Value) bool
	collect = func(v cty.Value) bool {
		if ref := refOf(v); ref != "" {
			thing := known[ref]
			if thing != nil && !seen[ref] {
				seen[ref] = true
				found = append(found, thing)
			}
			return thing != nil
		}
		if v.IsNull() || !v.CanIterateElements() {
			return false
		}
		var list []cty.Value
		if t := v.Type(); t.IsMapType() || t.IsObjectType() {
			for it := v.ElementIterator(); it.Next(); {
				_, part := it.Element()
				list = append(list, part)
			}
		} else {
			list = v.AsValueSlice()
			if t.IsSetType() { // a set of objects has no defined order
				slices.SortStableFunc(list, func(x, y cty.Value) int { return cmp.Compare(refOf(x), refOf(y)) })
			}
		}
		for _, part := range list {
			if !collect(part) {
				return false
			}
		}
		return true
	}
	if !collect(v) {
		b.wrongType(name, "one "+name+", or a list, set or map of "+string(kind), v.Type())
		return nil, isFailed
	}
	return found, isSet
}

func (l *loader) everySolution() []*Solution {
	var all []*Solution
	for _, d := range l.decls {
		if made, ok := d.made.([]*Solution); ok {
			all = append(all, made...)
		}
	}
	return all
}

func (l *loader) everyBackend() []*Backend {
	var all []*Backend
	for _, d := range l.decls {
		if made, ok := d.made.(*Backend); ok {
			all = append(all, made)
		}
	}
	return all
}
