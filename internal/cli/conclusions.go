package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/frozen"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// The files beside unchangedFile with what only a run of a part needs.
const (
	conclusionsFile   = "conclusions"
	configurationFile = "configuration"
)

// conclusions are what the cells of a remembered run came to, and which of them
// depend on which source files. Cells are numbered as in plan.Plan.Cells.
type conclusions struct {
	Files   []string         // sorted
	Of      []int32          // by file, the place in Sets of the cells that depend on it
	Sets    [][]int32        // of cells, each ascending
	Outputs [][]cache.Output // of the node of each cell
	Results report.Results
}

// affected are the cells that depend on any of some files; false when one of them
// is not known.
func (c *conclusions) affected(files []string) (map[int]bool, bool) {
	cells := map[int]bool{}
	for _, file := range files {
		at, ok := slices.BinarySearch(c.Files, file)
		if !ok {
			return nil, false
		}
		for _, cell := range c.Sets[c.Of[at]] {
			cells[int(cell)] = true
		}
	}
	return cells, true
}

// sound reports whether every number is one of something that is there.
func (c *conclusions) sound() bool {
	outside := func(n, of int) bool { return n < 0 || n >= of }
	return len(c.Of) == len(c.Files) && slices.IsSorted(c.Files) &&
		!slices.ContainsFunc(c.Of, func(n int32) bool { return outside(int(n), len(c.Sets)) }) &&
		!slices.ContainsFunc(c.Sets, func(set []int32) bool {
			return slices.ContainsFunc(set, func(n int32) bool { return outside(int(n), len(c.Outputs)) })
		})
}

// conclude collects the conclusions of a run of everything.
func (p *project) conclude(rep *graph.Report, results *report.Results) *conclusions {
	c := &conclusions{Outputs: p.plan.CellOutputs(rep), Results: *results}
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
			n = int32(len(c.Sets))
			c.Sets, numbers[name] = append(c.Sets, slices.Compact(set)), n
		}
		c.Files, c.Of = append(c.Files, r.path), append(c.Of, n)
	}
	return c
}

// amended are the conclusions after a run of a part, in the order of cells that
// the whole has.
func (c *conclusions) amended(p *plan.Plan, rep *graph.Report, cells map[int]bool, results *report.Results) *conclusions {
	next := *c
	next.Outputs = slices.Clone(c.Outputs)
	outputs := p.CellOutputs(rep)
	for i, cell := range slices.Sorted(maps.Keys(cells)) {
		next.Outputs[cell] = outputs[i]
	}
	next.Results = *results
	return &next
}

// merged are the results of the whole after a run of a part.
func (c *conclusions) merged(part *report.Results) (*report.Results, error) {
	key := func(cell *report.Cell) string {
		return verdictKey(cell.Problem, cell.Solution, cell.Backend, fmt.Sprint(cell.Repeat))
	}
	fresh := make(map[string]*report.Cell, len(part.Cells))
	for i := range part.Cells {
		fresh[key(&part.Cells[i])] = &part.Cells[i]
	}
	all := &report.Results{Schema: part.Schema, Run: part.Run, Cells: slices.Clone(c.Results.Cells)}
	left := len(fresh)
	for i := range all.Cells {
		if cell := fresh[key(&all.Cells[i])]; cell != nil {
			all.Cells[i] = *cell
			left--
		}
	}
	if left != 0 {
		return nil, errors.New("bug in fevalgraph: a run of a part has cells that the whole has not")
	}
	return all, nil
}

// writeSummed writes a file and returns the sum that readSummed insists on.
func writeSummed(path string, content []byte) ([]byte, error) {
	sum := sha256.Sum256(content)
	return sum[:], writeUnsynced(path, content)
}

// writeUnsynced writes a file that appears whole, unless the machine loses its
// power within seconds: whoever reads it looks at a checksum, and does not wait
// for the disk here.
func writeUnsynced(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // for its owner alone
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// readSummed reads a file that has the given sum.
func readSummed(path string, want []byte) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if sum := sha256.Sum256(content); !bytes.Equal(sum[:], want) {
		return "", fmt.Errorf("%s is not the one that is remembered", path)
	}
	return unsafe.String(unsafe.SliceData(content), len(content)), nil
}

func (c *conclusions) write(state string) (sum []byte, err error) {
	b, err := frozen.Append(nil, c)
	if err != nil {
		return nil, err
	}
	return writeSummed(filepath.Join(state, conclusionsFile), b)
}

func readConclusions(state string, sum []byte) (*conclusions, error) {
	b, err := readSummed(filepath.Join(state, conclusionsFile), sum)
	if err != nil {
		return nil, err
	}
	c := new(conclusions)
	if err := frozen.Decode(b, c); err != nil {
		return nil, err
	}
	if !c.sound() {
		return nil, errBadUnchanged
	}
	return c, nil
}

// writeConfiguration writes the configuration down; a sum of nil says that it has
// to be evaluated each time.
func writeConfiguration(state string, cfg *lang.Config) (sum []byte, err error) {
	if hasSecrets(cfg) {
		return nil, os.RemoveAll(filepath.Join(state, configurationFile)) // of before it had any
	}
	b, err := lang.Archive(cfg)
	if err != nil {
		return nil, nil //nolint:nilerr // it has expressions that wait for results
	}
	return writeSummed(filepath.Join(state, configurationFile), b)
}

// configuration is the one that a run is remembered of, none of whose inputs
// changed.
func (a *app) configuration(state string, u *unchanged) (*lang.Config, error) {
	if u.Configuration == nil {
		return a.load(a.langOptions())
	}
	b, err := readSummed(filepath.Join(state, configurationFile), u.Configuration)
	if err != nil {
		return nil, err
	}
	return lang.Unarchive(b)
}
