package eval

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// remembering records the results of a run by partition.
type remembering struct {
	x    *execution
	next *freshness // of the next run

	judged []bool            // by partition: whether nodes that only it contains have answers
	shared map[string][]byte // by address of a shared node: snapshot of its reads; nil if their state cannot be recorded
	tasks  declaredTasks
	err    error            // of write
	own    []cache.Sighting // scratch space of facts, reused between partitions
}

func (x *execution) remembering() *remembering {
	return &remembering{x: x, next: x.project.fresh.copied(), judged: make([]bool, len(x.project.fresh.parts)), shared: map[string][]byte{}, tasks: x.declaredTasks()}
}

// write writes the results of a partition to a file; cells are nil unless it was compiled. A partition with undecided
// nodes, or with a path that just changed, is written without facts: the next run decides it again. The name is zero
// without results, or if writing failed, which remember reports.
func (m *remembering) write(at int, cells []*plan.Cell, results []report.Cell) partition.Name {
	var learned *partition.Facts
	var table []graph.Row
	part := &m.next.parts[at]
	if len(cells) > 0 {
		learned, table = m.facts(at, cells, results)
		if cells[0].Partition.Publishes() || len(results) == 0 {
			learned = nil
		}
		part.facts, part.File = learned, partition.Name{}
		m.judged[at] = slices.ContainsFunc(table, func(row graph.Row) bool { return row.Class != cache.ClassFailed && m.owner(row.Labels) == at })
	}
	if len(results) == 0 || m.err != nil {
		return partition.Name{}
	}
	name, err := m.x.call.partitions.Put(learned, table, results)
	if err != nil {
		m.err = err
		return partition.Name{}
	}
	if learned != nil {
		part.File = name
	}
	return name
}

// writeTasks writes the rows of the tasks that no cell needs to a file without results. The name is zero without such
// tasks.
func (m *remembering) writeTasks() (name partition.Name, err error) {
	rows, _ := m.x.project.Plan.Graph.RowsOf(m.x.project.Plan.Tasks, m.x.rep)
	if len(rows) > 0 {
		name, err = m.x.call.partitions.Put(nil, rows, nil)
	}
	return name, err
}

// remember returns the names of the files with the results of the run, in the order of results and then of tasks, and
// replaces last answers and the index. Without keep, as after an interruption, the index is unchanged, which is still
// correct.
func (m *remembering) remember(ctx context.Context, results *collected, keep bool) ([]string, error) {
	if m.err != nil {
		return nil, m.err
	}
	var names []string
	for at := range results.parts {
		if file := results.parts[at].file; file != (partition.Name{}) {
			names = append(names, file.String())
		}
	}
	if tasks, err := m.writeTasks(); err != nil {
		return nil, err
	} else if tasks != (partition.Name{}) {
		names = append(names, tasks.String())
	}
	if m.x.call.options.Additions.Any() {
		return names, nil // later runs request something else
	}
	nothing := m.x.project.Plan.Graph.Len() == 0 // nothing was compiled
	if !nothing {
		if err := m.nextLast().Write(m.x.call.state, m.x.call.place); err != nil {
			return nil, err
		}
	}
	if !keep || nothing && !m.x.call.evaluated {
		return names, nil // the index would not change
	}
	return names, m.writeIndex(ctx)
}

// nextLast returns the last answers for the next run. A stale partition keeps its file until one of its nodes
// has an answer. Nodes that were not requested keep their current entry, which another run might have written
// meanwhile.
func (m *remembering) nextLast() *partition.Last {
	next, now := new(partition.Last), partition.ReadLast(m.x.call.state, m.x.call.place)
	files, nodes := map[partRefKey]partition.LastFile{}, map[string]graph.Last{}
	for _, f := range now.Files {
		files[partRefKey{f.Problem, f.First}] = f
	}
	for _, n := range now.Nodes {
		nodes[n.Addr] = n
	}
	inFile := make([]bool, len(m.next.parts))
	for at, part := range m.next.parts {
		f := partition.LastFile{Problem: part.Problem, First: part.First, File: part.File, Store: m.x.call.stores.Store.ID()}
		if part.facts == nil {
			if f = files[partRefKey{part.Problem, part.First}]; m.judged[at] || f.File == (partition.Name{}) {
				continue
			}
		}
		inFile[at] = true
		next.Files = append(next.Files, f)
	}
	for id := range graph.ID(m.x.project.Plan.Graph.Len()) {
		n := m.x.project.Plan.Graph.Node(id)
		if n.Pinned != nil {
			continue
		}
		last := m.x.rep.Last(id)
		other, noted := nodes[n.Addr]
		if noted && m.x.rep.Status(id).State == "" {
			last = other
		}
		if at := m.owner(n.Labels); at >= 0 && inFile[at] && (m.next.parts[at].facts != nil || last.Broken == "" && !noted) {
			continue
		}
		if !last.Key.IsZero() || last.Broken != "" || last.Seconds > 0 {
			next.Nodes = append(next.Nodes, last)
		}
	}
	return next
}

type partRefKey struct{ problem, first string }

// facts returns the facts of a partition, or nil if a later run could not rely on them, and the rows of all
// nodes with answers, from which results were made.
func (m *remembering) facts(part int, cells []*plan.Cell, results []report.Cell) (*partition.Facts, []graph.Row) {
	var targets []graph.ID
	for _, cell := range cells {
		targets = append(targets, cell.Targets()...)
	}
	table, ok := m.x.project.Plan.Graph.RowsOf(targets, m.x.rep)
	if !ok || len(results) != len(cells) {
		return nil, table
	}
	f := &partition.Facts{Run: m.x.call.run, Used: time.Now().Unix()}
	m.own = m.own[:0]
	for i := range table {
		row := &table[i]
		if id, ok := m.x.project.Plan.Graph.Lookup(row.Addr); ok && row.Kind == plan.KindTask {
			f.Tasks = append(f.Tasks, m.tasks.result(m.x.project.Plan.Graph.Node(id), m.x.rep.Status(id)))
		}
		for _, l := range row.Labels {
			if l.Name == "backend" && !slices.Contains(f.Backends, l.Value) {
				f.Backends = append(f.Backends, l.Value)
			}
		}
		read := m.x.call.trace.Of(row.Addr)
		if m.owner(row.Labels) == part {
			f.Own++
			m.own = append(m.own, read...)
			continue
		}
		f.Common = append(f.Common, partition.CommonRef{Addr: row.Addr, Outputs: partition.SumOutputs(row.Outputs)})
		if !m.share(row.Addr, read) {
			return nil, table
		}
	}
	if f.Snapshot = partition.Snapshot(m.own); f.Snapshot == nil {
		return nil, table
	}
	for i := range results {
		f.Summary = append(f.Summary, report.RowOf(&results[i]))
	}
	return f, table
}

// owner returns the only partition that can contain a node, that of its solution, or -1.
func (m *remembering) owner(labels []graph.Label) int {
	problem, solution := "", ""
	for _, l := range labels {
		switch l.Name {
		case "problem":
			problem = l.Value
		case "solution":
			solution = l.Value
		}
	}
	if at, ok := m.next.partOf(problem, solution); ok {
		return at
	}
	return -1
}

// share records the paths that a shared node read. It returns false if their state cannot be recorded.
func (m *remembering) share(addr string, read []cache.Sighting) bool {
	if len(read) == 0 { // pinned, so the index has its state; or it reads nothing
		return true
	}
	taken, known := m.shared[addr]
	if !known {
		taken = partition.Snapshot(read)
		m.shared[addr] = taken
	}
	return taken != nil
}

// writeIndex replaces the index.
func (m *remembering) writeIndex(ctx context.Context) error {
	old := m.next.index
	next := &partition.Index{Indexed: partition.Indexed{Salt: old.Salt, Root: m.x.call.Config.Root, Settings: m.x.call.Config.Settings, Warnings: m.x.call.warnings}}
	next.Base, next.Invocation, next.Env = m.x.call.baseOf(next.Salt), invocation(m.x.call.options, next.Salt), m.x.call.trace.Environment(next.Salt)
	var base []cache.Sighting
	for _, path := range m.x.call.baseFiles() {
		base = append(base, cache.Probe{Path: path, Follow: true}.Sight())
	}
	if next.BaseFiles = partition.Snapshot(base); next.BaseFiles == nil {
		return nil // the lock file was just written: the next run keeps an index
	}
	switch {
	case m.x.call.evaluated:
		next.Inputs = partition.Snapshot(m.x.call.inputs)
		next.Needed = needsWhole(m.x.call.Config) || hasUnpartitioned(m.x.call.Config) || len(m.x.call.Config.Exports)+len(m.x.call.Config.Results) > 0
		var err error
		if next.Config, err = partition.WriteConfig(m.x.call.state, m.x.call.Config); err != nil {
			return err
		}
	default:
		next.Inputs, next.Needed, next.Config = old.Inputs, old.Needed, old.Config
	}
	var err error
	if next.Shared, err = m.x.backendRecords(ctx); err != nil {
		return nil //nolint:nilerr // the next run reports what is wrong with the backend
	}
	for _, part := range m.next.parts {
		next.Parts = append(next.Parts, part.Ref)
	}
	next.Shared = append(next.Shared, m.sharedNodes()...)
	return next.Write(m.x.call.state, m.x.call.place)
}

// sharedNodes returns the state of the nodes that fresh partitions share, in this run or else in the index.
func (m *remembering) sharedNodes() (all []partition.Shared) {
	snapshots := map[string][]byte{}
	for _, s := range m.next.index.Shared {
		if s.Backend == nil && !m.next.changed[s.Addr] {
			snapshots[s.Addr] = s.Snapshot
		}
	}
	for addr, taken := range m.shared {
		if taken != nil {
			snapshots[addr] = taken
		}
	}
	used := map[string]bool{}
	for _, part := range m.next.freshParts() {
		for _, c := range part.facts.Common {
			used[c.Addr] = true
		}
	}
	for _, addr := range slices.Sorted(maps.Keys(snapshots)) {
		if used[addr] {
			all = append(all, partition.Shared{Addr: addr, Snapshot: snapshots[addr]})
		}
	}
	return all
}
