package history

import (
	"maps"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
)

// Record is the record of a run, with its results or a part of them.
type Record struct {
	State   event.Records // records of the project
	Run     *event.Run
	Results *report.Results
	files   []string // partitions in Results
}

// Open reads the whole record of a run, given by its id, a part of it, or "latest".
func Open(state event.Records, name string) (*Record, error) {
	r, err := find(state, name)
	if err == nil {
		err = r.read(nil)
	}
	return r, err
}

// readTasks reads the results of tasks.
func (r *Record) readTasks() (err error) {
	if r.Results.Tasks, err = Tasks(r.Run); err != nil {
		return exit.Past(err)
	}
	return nil
}

// OpenPair reads the records of two runs of a project, without the partitions and cells that they share, so
// that comparing runs of a large project is quick. shared is the number of omitted checkpoints.
func OpenPair(state event.Records, before, after string) (a, b *Record, shared int, err error) {
	if a, err = find(state, before); err != nil {
		return nil, nil, 0, err
	}
	if b, err = find(state, after); err != nil {
		return nil, nil, 0, err
	}
	var files [2][]string
	for i, r := range []*Record{a, b} {
		manifest, err := r.Run.Manifest()
		if err != nil {
			return nil, nil, 0, r.read(nil) // read reports the error
		}
		files[i] = manifest.Partitions
	}
	if a.Run.ID == b.Run.ID {
		return a, b, 0, a.readBoth(b)
	}
	has, both := map[string]bool{}, []string{}
	for _, name := range files[0] {
		has[name] = true
	}
	for _, name := range files[1] {
		if has[name] {
			both = append(both, name)
		}
	}
	if shared, err = checkpoints(state, both); err != nil {
		return nil, nil, 0, exit.Past(err)
	}
	more, err := a.readDifferent(b, files, both)
	return a, b, shared + more, err
}

// readBoth reads a run for two records.
func (r *Record) readBoth(other *Record) error {
	err := r.read(nil)
	*other = *r
	return err
}

func find(state event.Records, name string) (*Record, error) {
	run, err := event.FindRun(state, name)
	if err != nil {
		return nil, exit.Past(err)
	}
	return &Record{State: state, Run: run}, nil
}

// read reads the results, except some partitions.
func (r *Record) read(without []string) error {
	known := map[string]bool{}
	for _, name := range without {
		known[name] = true
	}
	cells, err := Cells(r.State, r.Run, known)
	if err != nil {
		return exit.Past(err)
	}
	for _, name := range without {
		delete(known, name)
	}
	r.files = slices.Sorted(maps.Keys(known))
	r.Results = &report.Results{Schema: report.Schema, Run: r.Run.ID, Cells: cells}
	return r.readTasks()
}

// checkpoints returns the number of checkpoints of the cells in partitions.
func checkpoints(state event.Records, files []string) (n int, err error) {
	for _, file := range files {
		name, err := partition.ParseName(file)
		if err != nil {
			return 0, err
		}
		ofCells, err := partition.StoreIn(state.Dir).Checkpoints(name)
		if err != nil {
			return 0, err
		}
		for _, of := range ofCells {
			n += of
		}
	}
	return n, nil
}

// Nodes calls fn for the recorded nodes that produced the results, with the addresses of their dependencies,
// their keys, and their outputs at that time.
func (r *Record) Nodes(fn func(row *graph.Row, deps []string)) error {
	store, seen, whole := partition.StoreIn(r.State.Dir), map[string]bool{}, true
	for _, file := range r.files {
		name, err := partition.ParseName(file)
		if err != nil {
			return err
		}
		rows, err := store.Rows(name)
		if err != nil {
			return err
		}
		has, err := store.HasFacts(name)
		if err != nil {
			return err
		}
		whole = whole && has
		for i := range rows {
			row := &rows[i]
			seen[row.Addr] = true
			var deps []string
			for _, at := range row.Deps {
				deps = append(deps, rows[at].Addr)
			}
			fn(row, deps)
		}
	}
	if whole {
		return nil
	}
	return Each(r.State, r.Run, func(done event.NodeDone) bool { // nodes without an answer
		if !seen[done.Addr] {
			row := graph.Row{Addr: done.Addr, Kind: done.Kind}
			row.Key, _ = cache.ParseKey(done.Key) // a broken node can lack a key
			fn(&row, nil)
		}
		return true
	})
}
