package cli

import (
	"path/filepath"
	"slices"

	"github.com/fevalgraph/fevalgraph/internal/frozen"
	"github.com/fevalgraph/fevalgraph/report"
)

// sourcesFile is beside unchangedFile. Runs of a part leave it as it is.
const sourcesFile = "sources"

// sources are the source files of a remembered run and the cells that depend on
// them. Cells are numbered as in plan.Plan.Cells.
type sources struct {
	Files  []string  // sorted
	Of     []int32   // by file, the place in Sets of the cells that depend on it
	Sets   [][]int32 // of cells, each ascending
	Places []int32   // of the cells in results
	Rows   []int32   // of the cells in the status, the first of each; nil when there is none
}

// affected are the cells that depend on any of some files; false when one of them
// is not known.
func (s *sources) affected(files []string) (map[int]bool, bool) {
	cells := map[int]bool{}
	for _, file := range files {
		at, ok := slices.BinarySearch(s.Files, file)
		if !ok {
			return nil, false
		}
		for _, cell := range s.Sets[s.Of[at]] {
			cells[int(cell)] = true
		}
	}
	return cells, true
}

// sound reports whether every number is one of something that is there.
func (s *sources) sound() bool {
	outside := func(n, of int) bool { return n < 0 || n >= of }
	places := slices.Sorted(slices.Values(s.Places))
	return len(s.Of) == len(s.Files) && (s.Rows == nil || len(s.Rows) == len(s.Places)) && slices.IsSorted(s.Files) &&
		!slices.ContainsFunc(s.Of, func(n int32) bool { return outside(int(n), len(s.Sets)) }) &&
		!slices.ContainsFunc(s.Sets, func(set []int32) bool {
			return slices.ContainsFunc(set, func(n int32) bool { return outside(int(n), len(s.Places)) })
		}) &&
		len(slices.Compact(places)) == len(s.Places) && (len(places) == 0 || places[0] == 0 && int(places[len(places)-1]) == len(places)-1)
}

// sources collects what a run of everything depended on.
func (p *project) sources(results *report.Results) (*sources, bool) {
	s := &sources{Places: make([]int32, len(p.plan.Cells))}
	readers := p.observer.readers()
	isReader := map[string]bool{}
	for _, r := range readers {
		for _, addr := range r.addrs {
			isReader[addr] = true
		}
	}
	cells := p.plan.Sources(func(addr string) bool { return isReader[addr] })
	numbers := map[string]int32{} // of sets by the nodes that they are of
	for _, r := range readers {
		name := verdictKey(r.addrs...)
		n, known := numbers[name]
		if !known {
			var set []int32
			for _, addr := range r.addrs {
				set = append(set, cells[addr]...)
			}
			slices.Sort(set)
			n = int32(len(s.Sets))
			s.Sets, numbers[name] = append(s.Sets, slices.Compact(set)), n
		}
		s.Files, s.Of = append(s.Files, r.path), append(s.Of, n)
	}
	places := map[string]int32{}
	for i := range results.Cells {
		places[cellKey(&results.Cells[i])] = int32(i)
	}
	for i, cell := range p.plan.Cells {
		place, ok := places[cellKey(&report.Cell{Problem: cell.Problem.Name, Solution: cell.Solution.Name, Backend: cell.Backend.Addr(), Repeat: cell.Repeat})]
		if !ok {
			return nil, false
		}
		s.Places[i] = place
	}
	return s, len(places) == len(p.plan.Cells) && s.sound()
}

func (s *sources) write(state string) (sum []byte, err error) {
	b, err := frozen.Append(nil, s)
	if err != nil {
		return nil, err
	}
	return writeSummed(filepath.Join(state, sourcesFile), b)
}

func readSources(state string, sum []byte) (*sources, error) {
	b, err := readSummed(filepath.Join(state, sourcesFile), sum)
	if err != nil {
		return nil, err
	}
	s := new(sources)
	if err := frozen.Decode(b, s); err != nil {
		return nil, err
	}
	if !s.sound() {
		return nil, errBadUnchanged
	}
	return s, nil
}
