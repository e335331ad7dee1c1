package partition

import (
	"crypto/hmac"
	"crypto/sha256"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// Trace records what a run reads from outside: the states of files, node by node, for comparison by a later
// run, and sums of environment variables.
type Trace struct {
	mu    sync.Mutex
	nodes map[string]*nodeTrace // by address
	env   map[string]envValue
}

type envValue struct {
	value string
	set   bool
}

// NewTrace returns an empty trace.
func NewTrace() *Trace {
	return &Trace{nodes: map[string]*nodeTrace{}, env: map[string]envValue{}}
}

// nodeTrace records the reads of a node.
type nodeTrace struct {
	mu        sync.Mutex
	sightings []cache.Sighting
}

// Sources returns sources that record the reads of a node in the trace.
func (t *Trace) Sources(addr string, states tasks.FileStates, store tasks.FilePutter) tasks.Sources {
	n := t.node(addr)
	return tasks.Sources{States: tracedStates{states, n}, Store: store, Observe: n.observe}
}

// node returns the trace of a node, which begins with this call.
func (t *Trace) node(addr string) *nodeTrace {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.nodes[addr]
	if n == nil {
		n = new(nodeTrace)
		t.nodes[addr] = n
	}
	return n
}

// Reads reports whether a node can read anything: whether it has sources.
func (t *Trace) Reads(addr string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.nodes[addr] != nil
}

// Of returns the reads of a node.
func (t *Trace) Of(addr string) []cache.Sighting {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.nodes[addr]; n != nil {
		return n.sightings
	}
	return nil
}

// All returns the reads of all nodes.
func (t *Trace) All() []cache.Sighting {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []cache.Sighting
	for _, n := range t.nodes {
		n.mu.Lock()
		all = append(all, n.sightings...)
		n.mu.Unlock()
	}
	return all
}

// LookupEnv reads the environment through the trace.
func (t *Trace) LookupEnv(lookup func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, set := lookup(name)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.env[name] = envValue{value, set}
		return value, set
	}
}

// observe implements tasks.Sources.Observe. It takes the state of a path before the task reads it.
func (n *nodeTrace) observe(kind, name string) {
	seen := sightings(kind, name)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sightings = append(n.sightings, seen...)
}

// tracedStates adds the files that a node has read to its trace.
type tracedStates struct {
	tasks.FileStates
	trace *nodeTrace
}

// Digest implements tasks.FileStates.
func (s tracedStates) Digest(path string, info fs.FileInfo) (cache.Digest, error) {
	at := time.Now()
	d, err := s.FileStates.Digest(path, info)
	if err == nil {
		s.trace.mu.Lock()
		defer s.trace.mu.Unlock()
		s.trace.sightings = append(s.trace.sightings, cache.SightFile(path, info, at, d))
	}
	return d, err
}

// sightings returns the states that the answer to an observation depends on; see tasks.Sources.Observe and
// lang.ConfigInput for the kinds.
func sightings(kind, name string) []cache.Sighting {
	probe := cache.Probe{Path: name, Follow: true}
	switch kind {
	case "var", "env": // compared by value
		return nil
	case "dir":
		probe = cache.Probe{Path: name, Listing: true}
	case "state":
		probe = cache.Probe{Path: name}
	case "link":
		probe = cache.Probe{Path: name, Exists: true}
	case "exists":
		probe = cache.Probe{Path: name, Follow: true, Exists: true}
	case "fileset":
		dir, pattern, _ := strings.Cut(name, "\x00")
		return filesetSightings(dir, pattern)
	case "tree":
		return treeSightings(name)
	}
	return []cache.Sighting{probe.Sight()}
}

// filesetSightings returns the directories that the search for a pattern lists, and the targets of symbolic
// links among their entries. An error of the search is a change of one of these paths.
func filesetSightings(dir, pattern string) []cache.Sighting {
	r := &recordingFS{dir: dir}
	r.sight(cache.Probe{Path: dir, Follow: true, Exists: true})
	_, _ = subpath.Glob(r, pattern, doublestar.WithFilesOnly())
	return r.seen
}

// treeSightings returns a directory and everything in it, with the targets of links, without the files that
// hashes of it ignore: Python's, and hidden ones.
func treeSightings(dir string) []cache.Sighting {
	seen := []cache.Sighting{cache.Probe{Path: dir, Follow: true, Exists: true}.Sight()}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return seen
	}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			seen = append(seen, cache.Probe{Path: path, Listing: true}.Sight())
			return nil
		}
		if path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "__pycache__") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		seen = append(seen, cache.Probe{Path: path, Follow: true, Listing: d.IsDir()}.Sight())
		if d.Type()&fs.ModeSymlink != 0 {
			seen = append(seen, cache.Probe{Path: path}.Sight())
		}
		return nil
	})
	return seen
}

// recordingFS is the directory dir; it records sightings of reads.
type recordingFS struct {
	dir  string
	seen []cache.Sighting
}

func (r *recordingFS) path(name string) string {
	return filepath.Join(r.dir, filepath.FromSlash(name))
}

func (r *recordingFS) sight(p cache.Probe) { r.seen = append(r.seen, p.Sight()) }

// Open implements fs.FS.
func (r *recordingFS) Open(name string) (fs.File, error) {
	path := r.path(name)
	r.sight(cache.Probe{Path: path, Follow: true})
	return os.Open(path)
}

// ReadDir implements fs.ReadDirFS. The target of a link matters, too; the listing has
// the kinds of the other entries.
func (r *recordingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	path := r.path(name)
	r.sight(cache.Probe{Path: path, Listing: true})
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			link := filepath.Join(path, e.Name())
			r.sight(cache.Probe{Path: link, Exists: true})
			r.sight(cache.Probe{Path: link, Follow: true, Exists: true})
		}
	}
	return entries, err
}

// Stat implements fs.StatFS.
func (r *recordingFS) Stat(name string) (fs.FileInfo, error) {
	path := r.path(name)
	r.sight(cache.Probe{Path: path, Follow: true, Exists: true})
	return os.Stat(path)
}

// EnvSum detects changes of a variable.
type EnvSum struct {
	Name string
	Set  bool
	Sum  []byte // salted, since values can be sensitive
}

// Environment returns the sums of all variables that were read, by name.
func (t *Trace) Environment(salt []byte) []EnvSum {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []EnvSum
	for _, name := range slices.Sorted(maps.Keys(t.env)) {
		all = append(all, sumOf(salt, name, t.env[name]))
	}
	return all
}

func sumOf(salt []byte, name string, v envValue) EnvSum {
	if !v.set {
		return EnvSum{Name: name}
	}
	return EnvSum{Name: name, Set: true, Sum: Salted(salt, []byte(v.value))}
}

// Salted returns a digest of content that does not reveal it.
func Salted(salt, content []byte) []byte {
	h := hmac.New(sha256.New, salt)
	h.Write(content)
	return h.Sum(nil)
}

// InputSightings returns the sightings of all inputs of a configuration's evaluation, given the time when
// it began.
func InputSightings(inputs []lang.ConfigInput, began time.Time) []cache.Sighting {
	var all []cache.Sighting
	for _, in := range inputs {
		for _, s := range sightings(in.Kind, in.Name) {
			all = append(all, s.Before(began))
		}
	}
	return all
}
