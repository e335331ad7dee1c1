package eval

import (
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// pathSet is a set of absolute paths with all that is below them.
type pathSet struct {
	paths   map[string]bool
	parents map[string]bool // the directories that they are in
}

func newPathSet(paths []string) *pathSet {
	s := &pathSet{map[string]bool{}, map[string]bool{}}
	for _, path := range paths {
		s.add(path)
	}
	return s
}

func (s *pathSet) add(path string) {
	s.paths[path] = true
	for dir := filepath.Dir(path); !s.parents[dir]; dir = filepath.Dir(dir) {
		s.parents[dir] = true
	}
}

// contains reports whether a path is in the set.
func (s *pathSet) contains(path string) bool {
	for ; !s.paths[path]; path = filepath.Dir(path) {
		if path == filepath.Dir(path) {
			return false
		}
	}
	return true
}

// touches reports whether a path is in the set, or something below it is.
func (s *pathSet) touches(path string) bool { return s.parents[path] || s.contains(path) }

// eachPath iterates over the paths and the directories that they are in.
func (s *pathSet) eachPath() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, paths := range []map[string]bool{s.paths, s.parents} {
			for path := range paths {
				if !yield(path) {
					return
				}
			}
		}
	}
}

// changes are the paths of a work tree that differ between two commits.
type changes struct {
	top    string // real path of the work tree
	all    *pathSet
	layout *pathSet // paths that one commit lacks, or has as another kind of file
	whole  bool     // a change can have an effect on the content of other paths
}

// add adds a path of the work tree. Both modes are git's; "000000" is that of a missing file.
func (c *changes) add(path, was, is string) {
	for _, mode := range []string{was, is} {
		const link, submodule = "120000", "160000"
		c.whole = c.whole || mode == link || mode == submodule
	}
	c.whole = c.whole || filepath.Base(path) == ".gitattributes"
	c.all.add(path)
	if was != is {
		c.layout.add(path)
	}
}

// affect reports whether an observation of a task or an evaluation can have another answer; see
// tasks.Sources.Observe and lang.ConfigInput for the kinds.
func (c *changes) affect(kind, name string) bool {
	switch kind {
	case "var", "env":
		return false
	case "fileset":
		dir, _, _ := strings.Cut(name, "\x00")
		return c.layout.touches(dir)
	case "exists", "link", "dir":
		return c.layout.touches(name)
	}
	return c.all.touches(name)
}

// editedInputs returns the files that a configuration was evaluated from and that have other content. It reports whether
// nothing else that changed has an effect on the evaluation.
func (c *changes) editedInputs(cfg *lang.Config) (files []string, ok bool) {
	for _, in := range cfg.Inputs {
		if !c.affect(in.Kind, in.Name) {
			continue
		}
		if in.Kind != "hcl" && in.Kind != "file" || c.layout.touches(in.Name) {
			return nil, false
		}
		files = append(files, in.Name)
	}
	slices.Sort(files)
	return slices.Compact(files), true
}

// reading records the paths that the nodes of a project read.
type reading struct {
	changes *changes
	base    func(addr string) tasks.Sources
	used    bool // the nodes have been described
	nodes   map[string]*nodeReading
}

// newReading returns a reading of nodes that are about to be compiled. Traced also records the trace of the call, which
// selectors of files need.
func newReading(c *changes, of *call, traced bool) *reading {
	r := &reading{changes: c, base: of.sources, nodes: map[string]*nodeReading{}}
	if !traced {
		r.base = func(string) tasks.Sources { return tasks.Sources{States: of.files, Store: of.stores.Store} }
	}
	return r
}

// nodeReading records the paths that a node reads.
type nodeReading struct {
	tasks.FileStates
	changes *changes
	moved   func(path string) string // nil unless it reads another version of the files

	mu       sync.Mutex
	affected bool
	paths    []string // observed paths
}

// sources implements plan.Environment.Sources.
func (r *reading) sources(addr string) tasks.Sources {
	s := r.base(addr)
	n := r.nodes[addr] // known for a node that was added before, of another cell
	if n == nil {
		n = &nodeReading{FileStates: s.States, changes: r.changes}
		r.nodes[addr] = n
	}
	traced := s.Observe
	s.States = n
	s.Moved = func(path string) string {
		if n.moved == nil {
			return path
		}
		return n.moved(path)
	}
	s.Observe = func(kind, name string) {
		if traced != nil {
			traced(kind, name)
		}
		path, _, _ := strings.Cut(name, "\x00")
		n.note(path, r.changes.affect(kind, name))
	}
	return s
}

func (n *nodeReading) note(path string, affected bool) {
	if n.moved != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.paths, n.affected = append(n.paths, path), n.affected || affected
}

// Digest implements tasks.FileStates.
func (n *nodeReading) Digest(path string, info fs.FileInfo) (cache.Digest, error) {
	if n.changes.all.contains(path) {
		n.note(path, true)
	}
	return n.FileStates.Digest(path, info)
}

// isAffected reports whether the node read a path that changed. A nil one reads nothing.
func (n *nodeReading) isAffected() bool { return n != nil && n.affected }

// affectedNodes returns the nodes that read a path that changed, and all that they read.
func (r *reading) affectedNodes() (nodes []*nodeReading, paths []string) {
	for _, n := range r.nodes {
		if n.affected {
			nodes, paths = append(nodes, n), append(paths, n.paths...)
		}
	}
	return nodes, paths
}
