// Package reads compares the files that a call has read with their current state. It decides whether another
// call could have another result, and not whether any work is stale.
package reads

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/eval/wake"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
	"github.com/fevalgraph/fevalgraph/lang"
)

// Reads are the reads of a call. While they are unchanged, another call would have the same result.
type Reads struct {
	Sightings []cache.Sighting  // by the call itself
	Snapshots []*cache.Snapshot // reads of earlier runs for reused answers
	Own       []string          // paths that calls write, including everything below
	Config    []byte            // digest of the configuration, or nil
}

// Seen holds the states of paths that a call read, except paths that calls write themselves. It must be used by
// one goroutine at a time.
type Seen struct {
	snapshots []*cache.Snapshot
	asked     *cache.Snapshot     // request's files, regardless of who wrote them
	failed    []cache.Probe       // paths whose state could not be read
	folders   map[string][]string // directories that calls write into, with the names of other files there
	changed   string              // a path that has changed since it was read, or ""
	doubtful  string              // a path that might have changed: where calls write, or within a clock tick of file times
	own       []string
}

// Begun is the state before a call.
type Begun struct {
	folders map[string][]string // names in directories that calls can write into
	asked   []cache.Sighting
}

// Begin records the state of a project's directory before a call, of directories that the last call wrote
// into, and of files that the request names.
func Begin(root string, last *Seen, asked []cache.Probe) *Begun {
	b := &Begun{folders: map[string][]string{root: names(root)}}
	if last != nil {
		for dir := range last.folders {
			b.folders[dir] = names(dir)
		}
	}
	for _, p := range asked {
		b.asked = append(b.asked, p.Sight())
	}
	return b
}

// See returns the states of a call's reads.
func (b *Begun) See(r Reads) *Seen {
	s := &Seen{snapshots: r.Snapshots, own: r.Own, folders: map[string][]string{}}
	for _, dir := range r.writtenDirs() {
		s.folders[dir] = s.otherNames(dir, names(dir))
		if was, known := b.folders[dir]; known && !slices.Equal(s.otherNames(dir, was), s.folders[dir]) {
			s.doubtful = dir
		}
	}
	var kept []cache.Sighting
	for _, one := range r.Sightings {
		switch {
		case s.isOwnWrite(one.Probe):
		case one.Err() != nil:
			s.failed = append(s.failed, one.Probe)
		default:
			kept = append(kept, one)
		}
	}
	taken, errs := cache.TakeEach(kept)
	s.snapshots = append(s.snapshots, taken)
	var more []error
	s.asked, more = cache.TakeEach(b.asked)
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

// writtenDirs returns the directories that calls both read and write files in.
func (r *Reads) writtenDirs() (dirs []string) {
	in := map[string]bool{}
	for _, path := range r.Own {
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
	for _, one := range r.Sightings {
		look(one.Probe)
	}
	for _, taken := range r.Snapshots {
		taken.Probes(look)
	}
	return dirs
}

// isOwnWrite reports whether calls themselves change the target of a probe.
func (s *Seen) isOwnWrite(p cache.Probe) bool {
	if _, folder := s.folders[p.Path]; folder {
		return !p.Exists // its names are compared
	}
	return s.isOwn(p.Path)
}

func (s *Seen) isOwn(path string) bool {
	return slices.ContainsFunc(s.own, func(own string) bool { return subpath.Contains(own, path) })
}

// otherNames returns the names in a directory that calls do not create.
func (s *Seen) otherNames(dir string, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return s.isOwn(filepath.Join(dir, name)) })
}

// names returns the sorted names in a directory, or none if it cannot be read.
func names(dir string) (all []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// Disturb marks a path as changed since it was read.
func (s *Seen) Disturb(path string) { s.changed = path }

// Difference returns a path that has changed or might have changed, or "".
func (s *Seen) Difference() string {
	if s.changed != "" {
		return s.changed
	}
	for _, taken := range s.snapshots {
		if path := taken.ChangedBut(s.isOwnWrite); path != "" {
			return path
		}
	}
	if path := s.asked.Changed(); path != "" {
		return path
	}
	for dir, was := range s.folders {
		if !slices.Equal(was, s.otherNames(dir, names(dir))) {
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

// Paths returns the recorded paths.
func (s *Seen) Paths() (all []wake.Path) {
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

// OfInvalid returns the reads of a configuration with errors. It loads the configuration once more; mended
// reports whether it is now free of errors.
func OfInvalid(o *options.Options) (r Reads, mended bool) {
	began := time.Now()
	cfg, diags := lang.Load(o.Lang())
	return Reads{Sightings: partition.InputSightings(cfg.Inputs, began), Own: []string{options.Absolute(o.StateDir())}}, !diags.HasErrors()
}
