package cli

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// observer notes what of the outside a run depends on, so that a later one can
// look whether any of it changed. What it cannot note is a doubt, and a run
// with doubts is never repeated from memory.
type observer struct {
	began time.Time // before anything was read
	dir   string    // of the configuration
	root  fs.FileInfo

	mu    sync.Mutex
	paths map[observation]bool
	files map[string]cache.Digest // source files, as they were when they were hashed
	read  map[string][]string     // addresses of the nodes that read them
	env   map[string]string       // values by name; absent ones are unset
	unset map[string]bool
	doubt string // the first; "" is none
}

// observation is of a kind of tasks.Sources.Observe or of lang.ConfigInput.
type observation struct{ kind, name string }

func newObserver(dir string) *observer {
	if dir == "" {
		dir = "."
	}
	root, _ := os.Stat(dir) // nil when there is none, which loading complains about
	return &observer{began: time.Now(), dir: dir, root: root, paths: map[observation]bool{}, files: map[string]cache.Digest{}, read: map[string][]string{},
		env: map[string]string{}, unset: map[string]bool{}}
}

// sameRoot reports whether no other directory took the project's place meanwhile.
func (o *observer) sameRoot() bool {
	now, err := os.Stat(o.dir)
	return err == nil && o.root != nil && os.SameFile(o.root, now)
}

// note implements tasks.Sources.Observe.
func (o *observer) note(kind, name string) {
	o.mu.Lock()
	o.paths[observation{kind, name}] = true
	o.mu.Unlock()
}

func (o *observer) doubts(why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.doubt == "" {
		o.doubt = why
	}
}

// lookupEnv reads the environment by lookup and notes what it said.
func (o *observer) lookupEnv(lookup func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, set := lookup(name)
		o.mu.Lock()
		defer o.mu.Unlock()
		if set {
			o.env[name] = value
		} else {
			o.unset[name] = true
		}
		return value, set
	}
}

// observedStates notes which files a node hashed, and to what.
type observedStates struct {
	tasks.FileStates
	o    *observer
	addr string
}

// Digest implements tasks.FileStates.
func (s observedStates) Digest(path string, info fs.FileInfo) (cache.Digest, error) {
	d, err := s.FileStates.Digest(path, info)
	if err == nil {
		s.o.mu.Lock()
		defer s.o.mu.Unlock()
		if before, known := s.o.files[path]; known && before != d {
			s.o.doubt = path + " changed during the run"
		}
		s.o.files[path] = d
		if of := s.o.read[path]; !slices.Contains(of, s.addr) {
			s.o.read[path] = append(of, s.addr)
		}
	}
	return d, err
}

// reader is a source file and the nodes that read it, sorted.
type reader struct {
	path  string
	addrs []string
}

// readers are all source files by their paths.
func (o *observer) readers() []reader {
	all := make([]reader, 0, len(o.read))
	for path, addrs := range o.read {
		all = append(all, reader{path, slices.Sorted(slices.Values(addrs))})
	}
	slices.SortFunc(all, func(a, b reader) int { return strings.Compare(a.path, b.path) })
	return all
}

// looks are the paths to remember. They must be few enough to fit in memory,
// as the files of a project do.
func (o *observer) looks() ([]cache.Look, error) {
	var all []cache.Look
	for path, d := range o.files {
		all = append(all, cache.Look{Path: path, Digest: d})
	}
	for seen := range o.paths {
		switch seen.kind {
		case "var", "env": // noted elsewhere
		case "dir":
			all = append(all, cache.Look{Path: seen.name, Listing: true})
		case "state":
			all = append(all, cache.Look{Path: seen.name})
		case "link":
			all = append(all, cache.Look{Path: seen.name, Exists: true})
		case "exists":
			all = append(all, cache.Look{Path: seen.name, Follow: true, Exists: true})
		case "fileset":
			more, err := filesetLooks(seen.name)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		case "tree":
			more, err := treeLooks(seen.name)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		default:
			all = append(all, cache.Look{Path: seen.name, Follow: true})
		}
	}
	return all, nil // TakeSnapshot sorts them
}

// filesetLooks are what the answer of a fileset depends on: the directories
// that it lists, and what symbolic links in it lead to.
func filesetLooks(name string) ([]cache.Look, error) {
	dir, pattern, _ := strings.Cut(name, "\x00")
	r := &recordingFS{dir: dir, looks: []cache.Look{{Path: dir, Follow: true, Exists: true}}}
	_, err := doublestar.Glob(r, pattern, doublestar.WithFilesOnly(), doublestar.WithFailOnIOErrors(), doublestar.WithNoFollow())
	return r.looks, err
}

// treeLooks are a directory and all that is in it, with what links lead to, but
// for what Python or a hidden name keeps out of hashes of it.
func treeLooks(dir string) ([]cache.Look, error) {
	looks := []cache.Look{{Path: dir, Follow: true, Exists: true}}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "__pycache__") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		looks = append(looks, cache.Look{Path: path, Follow: true, Listing: d.IsDir()})
		if d.Type()&fs.ModeSymlink != 0 {
			looks = append(looks, cache.Look{Path: path})
		}
		return nil
	})
	return looks, err
}

// recordingFS is the directory dir; it notes what is asked of it. Of a file,
// nobody asks more than what kind of file it is.
type recordingFS struct {
	dir   string
	looks []cache.Look
}

func (r *recordingFS) path(name string) string {
	return filepath.Join(r.dir, filepath.FromSlash(name))
}

func (r *recordingFS) note(l cache.Look) { r.looks = append(r.looks, l) }

// Open implements fs.FS.
func (r *recordingFS) Open(name string) (fs.File, error) {
	path := r.path(name)
	r.note(cache.Look{Path: path, Follow: true})
	return os.Open(path)
}

// ReadDir implements fs.ReadDirFS. Of the entries, what links lead to matters,
// too; of others the directory tells the kind.
func (r *recordingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	path := r.path(name)
	r.note(cache.Look{Path: path, Listing: true})
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			link := filepath.Join(path, e.Name())
			r.note(cache.Look{Path: link, Exists: true})
			r.note(cache.Look{Path: link, Follow: true, Exists: true})
		}
	}
	return entries, err
}

// Stat implements fs.StatFS.
func (r *recordingFS) Stat(name string) (fs.FileInfo, error) {
	path := r.path(name)
	r.note(cache.Look{Path: path, Follow: true, Exists: true})
	return os.Stat(path)
}

// envSum is what is kept of a variable: enough to see that it is another.
type envSum struct {
	Name string `json:"name"`
	Set  bool   `json:"set"`
	Sum  []byte `json:"sum,omitempty"`
}

// environment are the sums of all variables that were asked for, by name.
func (o *observer) environment(salt []byte) []envSum {
	var all []envSum
	for name, value := range o.env {
		all = append(all, sumOf(salt, name, value, true))
	}
	for name := range o.unset {
		all = append(all, sumOf(salt, name, "", false))
	}
	slices.SortFunc(all, func(a, b envSum) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func sumOf(salt []byte, name, value string, set bool) envSum {
	if !set {
		return envSum{Name: name}
	}
	h := hmac.New(sha256.New, salt)
	h.Write([]byte(value))
	return envSum{Name: name, Set: true, Sum: h.Sum(nil)}
}

func newSalt() []byte {
	salt := make([]byte, 16)
	rand.Read(salt)
	return salt
}
