package lang

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

// Authors of submissions can put symbolic links into their directories. So a source that leads
// through a link into the source of another solution of its problem is refused.

// origin is the target of a solution's source.
type origin struct {
	solution *Solution
	answer   *SolutionCheckpoint
	real     string // its path without symbolic links
}

// refuseBorrowed marks answers whose sources belong to another solution.
func (l *loader) refuseBorrowed() {
	problems := map[*Problem][]origin{}
	for _, s := range l.config.Solutions {
		for i := range s.Checkpoints {
			if a := &s.Checkpoints[i]; a.Source != "" && !a.Missing && s.Recorded == nil {
				problems[s.Problem] = append(problems[s.Problem], origin{s, a, l.realOf(a.Source)})
			}
		}
	}
	for _, origins := range problems {
		if slices.ContainsFunc(origins, l.leadsThroughLink) {
			l.refuseIn(origins)
		}
	}
}

// leadsThroughLink reports whether a source leads through a link. Links above the project's directory do
// not count.
func (l *loader) leadsThroughLink(o origin) bool {
	if rel, ok := subpath.Rel(l.root, o.answer.Source); ok {
		return o.real != filepath.Join(l.realDir(l.root), rel)
	}
	return o.real != o.answer.Source
}

// refuseIn marks the answers to one problem.
func (l *loader) refuseIn(origins []origin) {
	slices.SortFunc(origins, func(a, b origin) int { return strings.Compare(a.real, b.real) })
	for _, o := range origins {
		if !l.leadsThroughLink(o) {
			continue
		}
		if other := l.lender(o, origins); other != nil {
			o.answer.Refused = fmt.Sprintf("the source is a link into that of the solution %s", other.solution.Name)
		}
	}
}

// lender returns the origin that o leads into through a link, or that is in the directory that o
// leads to. It returns nil if o does not borrow. origins are sorted by their real paths.
func (l *loader) lender(o origin, origins []origin) *origin {
	lends := func(at string, exact bool) *origin {
		i, _ := slices.BinarySearchFunc(origins, at, func(x origin, at string) int { return strings.Compare(x.real, at) })
		for ; i < len(origins) && (origins[i].real == at || !exact && subpath.Contains(at, origins[i].real)); i++ {
			if x := &origins[i]; x.solution != o.solution && l.borrows(o, *x) {
				return x
			}
		}
		return nil
	}
	for at := filepath.Dir(o.real); at != filepath.Dir(at); at = filepath.Dir(at) {
		if x := lends(at, true); x != nil {
			return x
		}
	}
	if x := lends(o.real, true); x != nil {
		return x
	}
	return lends(o.real+string(filepath.Separator), false)
}

// borrows reports whether o leads through a link below the deepest directory that both sources
// share by name.
func (l *loader) borrows(o, other origin) bool {
	a, b := o.answer.Source, other.answer.Source
	if subpath.Contains(a, b) || subpath.Contains(b, a) {
		return false // as written in the configuration
	}
	common := filepath.Dir(a)
	for common != filepath.Dir(common) && !subpath.Contains(common, b) { // drives can differ
		common = filepath.Dir(common)
	}
	rel, ok := subpath.Rel(common, a)
	return ok && o.real != filepath.Join(l.realDir(common), rel)
}
