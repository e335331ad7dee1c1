package partition

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/frozen"
	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// Last lists the results of earlier runs for nodes. If all nodes of a partition have an answer, the
// answers are the rows of its file, which Files names also while the partition is stale. Nodes lists all
// other nodes: shared ones, such as suites and images, all nodes of partitions that lack an answer,
// attempts that broke, and the seconds that a pack expects work to take.
//
// A run writes it at its end. If it is killed earlier, its answers are still in the store, where the next
// run finds them by key.
type Last struct {
	Form  int
	Files []LastFile
	Nodes []graph.Last
}

// LastFile is a partition file whose rows are last answers, in the store with this ID.
type LastFile struct {
	Problem, First string // as in Ref
	File           Name
	Store          string
}

// lastForm must be incremented if old readers would misread a Last.
const lastForm = 2

func lastPath(dir string) string { return filepath.Join(dir, "nodes") }

// ReadLast reads the Last in a directory. A missing, damaged or unproven one is empty.
func ReadLast(dir string, place proof.Place) *Last {
	l := new(Last)
	content := place.Read(lastPath(dir))
	if content == nil || frozen.Decode(content, l) != nil || l.Form != lastForm {
		return new(Last)
	}
	return l
}

// Write replaces the Last in a directory.
func (l *Last) Write(dir string, place proof.Place) error {
	l.Form = lastForm
	content, err := frozen.Append(nil, l)
	if err != nil {
		return err
	}
	return place.Write(lastPath(dir), 0o600, content)
}

// Lasts contains the last answers of nodes, by address.
type Lasts map[string]*graph.Last

// Of returns the last answer of a node, or the zero Last.
func (l Lasts) Of(addr string) graph.Last {
	if last := l[addr]; last != nil {
		return *last
	}
	return graph.Last{}
}

// ByAddress returns the last answers of nodes, including those of some Files.
func (l *Last) ByAddress(s Store, reads func(LastFile) bool) Lasts {
	all := make(Lasts, len(l.Nodes))
	for _, f := range l.Files {
		if !reads(f) {
			continue
		}
		rows, _ := s.Rows(f.File) // ignore a damaged file
		lasts := make([]graph.Last, len(rows))
		for i := range rows {
			lasts[i] = graph.Last{Addr: rows[i].Addr, Answer: rows[i].Answer, Store: f.Store}
			all[rows[i].Addr] = &lasts[i]
		}
	}
	for i := range l.Nodes {
		n := &l.Nodes[i]
		if all[n.Addr] == nil || !n.Key.IsZero() || n.Broken != "" {
			all[n.Addr] = n
		}
	}
	return all
}

// Expect records the duration of nodes, by address, unless one is known.
func (l *Last) Expect(seconds map[string]float64) {
	seconds = maps.Clone(seconds)
	for _, n := range l.Nodes {
		delete(seconds, n.Addr)
	}
	for _, addr := range slices.Sorted(maps.Keys(seconds)) {
		l.Nodes = append(l.Nodes, graph.Last{Addr: addr, Answer: graph.Answer{Seconds: seconds[addr]}})
	}
}
