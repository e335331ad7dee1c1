package plan

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/frozen"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// Partition is a range of the cells of one problem: the unit in which a configuration is compiled, and
// results of compiling are stored.
type Partition struct {
	Problem    string
	First      string // first solution of the range
	cells      []partCell
	tasksAbout map[subject][]*lang.Task // cells of the configuration
}

// partCell is a cell, with the suites that contain it.
type partCell struct {
	rank     int // in the order of the configuration
	Solution *lang.Solution
	Backend  *lang.Backend
	Repeat   int
	Suites   []*lang.Suite
}

func (c partCell) cell() lang.Cell {
	return lang.Cell{Solution: c.Solution, Backend: c.Backend, Repeat: c.Repeat}
}

// EachCell calls fn for every cell of a configuration that is evaluated, once.
func EachCell(cfg *lang.Config, fn func(lang.Cell)) {
	for _, p := range Partitions(cfg) {
		for _, c := range p.cells {
			fn(c.cell())
		}
	}
}

// Checkpoints returns the checkpoints of a configuration's cells.
func Checkpoints(cfg *lang.Config) map[CellID]bool {
	all := map[CellID]bool{}
	EachCell(cfg, func(c lang.Cell) {
		if len(c.Solution.Problem.Invalid) > 0 {
			all[IDOf(c)] = true
			return
		}
		for _, answer := range c.Solution.Checkpoints {
			all[IDOf(c).At(answer.Checkpoint.Name)] = true
		}
	})
	return all
}

// rangeSize is the average number of solutions in a partition. A range ends before a solution whose name
// has a hash that is a multiple of rangeSize, so that adding a solution changes only the range that
// contains it.
const rangeSize = 256

// Partitions divides the cells of a configuration that are evaluated. The order is
// that of results: by problem, then by the names of solutions.
func Partitions(cfg *lang.Config) []*Partition {
	var all []partCell
	known := map[lang.Cell]int{}
	for _, suite := range cfg.Suites {
		for lc := range cellsOf(suite) {
			at, ok := known[lc]
			if !ok {
				at = len(all)
				known[lc] = at
				all = append(all, partCell{rank: at, Solution: lc.Solution, Backend: lc.Backend, Repeat: lc.Repeat})
			}
			all[at].Suites = append(all[at].Suites, suite)
		}
	}
	slices.SortStableFunc(all, func(a, b partCell) int {
		return cmp.Or(cmp.Compare(a.Solution.Problem.Name, b.Solution.Problem.Name), cmp.Compare(a.Solution.Name, b.Solution.Name),
			cmp.Compare(a.Backend.Addr(), b.Backend.Addr()), cmp.Compare(a.Repeat, b.Repeat))
	})
	var parts []*Partition
	about := tasksAbout(cfg)
	for i, cell := range all {
		problem, solution := cell.Solution.Problem.Name, cell.Solution.Name
		if i == 0 || all[i-1].Solution.Problem.Name != problem || all[i-1].Solution.Name != solution && beginsRange(solution) {
			parts = append(parts, &Partition{Problem: problem, First: solution, tasksAbout: about})
		}
		last := parts[len(parts)-1]
		last.cells = append(last.cells, cell)
	}
	for _, p := range parts { // nodes come in the order of the configuration
		slices.SortFunc(p.cells, func(a, b partCell) int { return cmp.Compare(a.rank, b.rank) })
	}
	return parts
}

func beginsRange(solution string) bool {
	h := fnv.New32a()
	h.Write([]byte(solution))
	return h.Sum32()%rangeSize == 0
}

// Publishes reports whether a task that the cells need writes outputs into the project. If so, a run
// needs its answer.
func (p *Partition) Publishes() bool {
	needed := map[*lang.Task]bool{}
	for _, c := range p.cells {
		tasksOf(c.Solution, p.tasksAbout, needed)
	}
	for t := range needed {
		if t.Publishes() {
			return true
		}
	}
	return false
}

// Fingerprint encodes the whole configuration of the cells: equal fingerprints are compiled to equal nodes.
// It contains the values of secrets.
func (p *Partition) Fingerprint() ([]byte, error) {
	type suite struct {
		Name  string
		Retry *lang.Retry
	}
	type cell struct {
		Solution *lang.Solution
		Backend  *lang.Backend
		Repeat   int
		Suites   []suite
		About    []*lang.Task
	}
	cells := make([]cell, len(p.cells))
	for i, c := range p.cells {
		cells[i] = cell{Solution: c.Solution, Backend: c.Backend, Repeat: c.Repeat}
		for _, answer := range c.Solution.Checkpoints {
			cells[i].About = append(cells[i].About, p.tasksAbout[subject{c.Solution, answer.Checkpoint}]...)
		}
		for _, s := range c.Suites {
			cells[i].Suites = append(cells[i].Suites, suite{s.Name, s.Retry})
		}
	}
	return frozen.Fingerprint(nil, &cells, reflect.TypeFor[diag.Range]())
}

// partitioned compiles partition by partition, in the order in which suites mention
// their first cells.
type partitioned struct {
	of   map[lang.Cell]*Partition
	rows func(*Partition) []graph.Row
	done map[*Partition]bool
}

func (c *compiler) divide(cfg *lang.Config, rows func(*Partition) []graph.Row) {
	c.divided = partitioned{of: map[lang.Cell]*Partition{}, rows: rows, done: map[*Partition]bool{}}
	for _, p := range Partitions(cfg) {
		for _, cell := range p.cells {
			c.divided.of[cell.cell()] = p
		}
	}
}

// partition adds the nodes of a partition, once: from its rows, or new ones.
func (c *compiler) partition(p *Partition) error {
	if c.divided.done[p] {
		return nil
	}
	c.divided.done[p] = true
	if c.divided.rows != nil {
		if rows := c.divided.rows(p); rows != nil {
			c.plan.Graph.AddRows(rows)
			return nil
		}
	}
	for _, cell := range p.cells {
		if err := c.cell(p, cell); err != nil {
			return err
		}
	}
	return nil
}

// InShard reports whether a cell is in part index of count, from 1.
func InShard(c lang.Cell, index, count int) bool { return ShardOf(c, count) == index }

// ShardOf returns the shard, from 1 to count, that contains a cell. It distributes cells by name, so that
// a new cell moves no other cells.
func ShardOf(c lang.Cell, count int) int {
	h := fnv.New32a()
	fmt.Fprintf(h, "%q %q %q %d", c.Solution.Problem.Name, c.Solution.Name, c.Backend.Addr(), c.Repeat)
	return int(h.Sum32()%uint32(count)) + 1
}
