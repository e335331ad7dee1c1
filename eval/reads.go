package eval

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/eval/wake"
	"github.com/fevalgraph/fevalgraph/lang"
)

// reads are what a call has read of the file system. While nothing of it is different,
// another call would find out the same.
type reads struct {
	sightings []cache.Sighting  // of what it read itself
	snapshots []*cache.Snapshot // of what earlier runs read for the answers that it took over
	own       []string          // what calls write, with all below it
	config    []byte            // digest of the configuration; nil when it has none
}

// reads are what the project has read so far.
func (p *Project) reads() reads {
	r := reads{own: []string{p.state, p.lockPath()}}
	if dir, err := p.options.CacheDir(p.Config); err == nil {
		r.own = append(r.own, dir)
	}
	for _, e := range p.Config.Exports {
		r.own = append(r.own, e.Path)
	}
	earlier := func(encoded []byte) {
		if s, err := cache.DecodeSnapshot(encoded); err == nil {
			r.snapshots = append(r.snapshots, s)
		}
	}
	r.sightings = append(slices.Clone(p.inputs), p.trace.All()...)
	if p.evaluated {
		if content, err := lang.Archive(p.Config); err == nil {
			sum := sha256.Sum256(content)
			r.config = sum[:]
		}
	} else {
		r.config = p.known.index.Config
		earlier(p.known.index.Inputs)
	}
	shared := map[[sha256.Size]byte]bool{}
	for at := range p.parts {
		facts := p.parts[at].facts
		if facts == nil || facts.Run == p.run { // the trace has what those rest on
			continue
		}
		earlier(facts.Snapshot)
		for _, s := range facts.Shared {
			if !shared[s.Sum] {
				shared[s.Sum] = true
				earlier(p.known.shared[s.Sum].Snapshot)
			}
		}
	}
	return r
}

// seen are the states of paths as a call read them, but for what calls write themselves.
type seen struct {
	snapshots []*cache.Snapshot
	asked     *cache.Snapshot     // of the files of the request, whoever writes them
	failed    []cache.Probe       // paths that could not be looked at
	folders   map[string][]string // directories that calls write into: the names of what others have there
	changed   string              // a path that has changed since it was read; "" is none
	doubtful  string              // one that may have: where calls write, or in a tick of the clock that stamps files
	own       []string
}

// see records what was read, and the files that were asked for. before has the names in directories
// before the call.
func see(r reads, before map[string][]string, asked []cache.Sighting) *seen {
	s := &seen{snapshots: r.snapshots, own: r.own, folders: map[string][]string{}}
	for _, dir := range r.written() {
		s.folders[dir] = s.others(dir, names(dir))
		if was, known := before[dir]; known && !slices.Equal(s.others(dir, was), s.folders[dir]) {
			s.doubtful = dir
		}
	}
	var kept []cache.Sighting
	for _, one := range r.sightings {
		switch {
		case s.excepted(one.Probe):
		case one.Err() != nil:
			s.failed = append(s.failed, one.Probe)
		default:
			kept = append(kept, one)
		}
	}
	taken, errs := cache.TakeEach(kept)
	s.snapshots = append(s.snapshots, taken)
	var more []error
	s.asked, more = cache.TakeEach(asked)
	for _, err := range append(errs, more...) {
		var changed *cache.ChangedError
		var unsettled *cache.UnsettledError
		switch {
		case errors.As(err, &changed):
			s.changed = changed.Path
		case errors.As(err, &unsettled):
			s.doubtful = unsettled.Path
		}
	}
	return s
}

// written are the directories that calls both read and write files in.
func (r *reads) written() (dirs []string) {
	in := map[string]bool{}
	for _, path := range r.own {
		in[filepath.Dir(path)] = true
		if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			in[real] = true
		}
	}
	look := func(p cache.Probe) bool {
		if in[p.Path] && !p.Exists {
			delete(in, p.Path)
			dirs = append(dirs, p.Path)
		}
		return true
	}
	for _, one := range r.sightings {
		look(one.Probe)
	}
	for _, taken := range r.snapshots {
		taken.Probes(look)
	}
	return dirs
}

// excepted reports whether calls change what a probe looks at.
func (s *seen) excepted(p cache.Probe) bool {
	if _, folder := s.folders[p.Path]; folder {
		return !p.Exists // its names are compared
	}
	return s.isOwn(p.Path)
}

func (s *seen) isOwn(path string) bool {
	return slices.ContainsFunc(s.own, func(own string) bool {
		return path == own || strings.HasPrefix(path, own+string(filepath.Separator))
	})
}

// others are those names in a directory that calls do not make.
func (s *seen) others(dir string, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return s.isOwn(filepath.Join(dir, name)) })
}

// names are those in a directory, in order; none when it cannot be read.
func names(dir string) (all []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// difference is a path that is different by now, or may be; "" is none.
func (s *seen) difference() string {
	if s.changed != "" {
		return s.changed
	}
	for _, taken := range s.snapshots {
		if path := taken.ChangedBut(s.excepted); path != "" {
			return path
		}
	}
	if path := s.asked.Changed(); path != "" {
		return path
	}
	for dir, was := range s.folders {
		if !slices.Equal(was, s.others(dir, names(dir))) {
			return dir
		}
	}
	for _, p := range s.failed {
		if p.Sight().Err() == nil {
			return p.Path
		}
	}
	return s.doubtful
}

// paths are those of what was seen.
func (s *seen) paths() (all []wake.Path) {
	for _, taken := range append(slices.Clone(s.snapshots), s.asked) {
		for p := range taken.Probes {
			all = append(all, wake.Path{Name: p.Path, List: p.Listing})
		}
	}
	for _, p := range s.failed {
		all = append(all, wake.Path{Name: p.Path, List: p.Listing})
	}
	for dir := range s.folders {
		all = append(all, wake.Path{Name: dir, List: true})
	}
	return all
}

// readsOfMistake are those of a configuration that does not load. It is loaded once more; mended is
// whether it has no mistakes by now.
func readsOfMistake(o *Options) (r reads, mended bool) {
	began := time.Now()
	cfg, diags := lang.Load(o.Lang())
	return reads{sightings: partition.InputSightings(cfg.Inputs, began), own: []string{options.Absolute(o.StateDir())}}, !diags.HasErrors()
}
