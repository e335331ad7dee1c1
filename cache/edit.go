package cache

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
)

// Edit is a possible edit of a path: a file, or a directory with everything in it.
type Edit struct {
	paths []string  // absolute, clean; with links, and without
	state pathState // of the path's target
}

// EditOf returns the edit of an absolute path, which need not exist.
func EditOf(path string) Edit {
	e := Edit{paths: []string{filepath.Clean(path)}}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != e.paths[0] {
		e.paths = append(e.paths, real)
	}
	var err error
	if e.state, err = lookAt(append([]byte(path), 0), true); err != nil {
		e.state.absent = true
	}
	return e
}

// Changes reports whether the edit can change the result of a sighting: the content of the file, under any
// name, or of a file in the directory, or the list of files in it.
func (e Edit) Changes(s Sighting) bool { return e.changes(s.Probe, s.state) }

// ChangesAny reports whether the edit would change one of the recorded states.
func (e Edit) ChangesAny(s *Snapshot) bool {
	le := binary.LittleEndian
	for i := range s.Len() {
		r := s.record(i)
		was := pathState{mode: le.Uint32(r[12:]), absent: le.Uint32(r[8:])&probeAbsent != 0}
		was.inode, was.dev = le.Uint64(r[40:]), le.Uint64(r[48:])
		if e.changes(s.probe(r), was) {
			return true
		}
	}
	return false
}

func (e Edit) changes(p Probe, was pathState) bool {
	directory := !e.state.absent && e.state.directory()
	if p.Exists || p.Listing && !directory {
		return false
	}
	for _, path := range e.paths {
		if p.Path == path || directory && strings.HasPrefix(p.Path, path) && strings.HasPrefix(p.Path[len(path):], string(os.PathSeparator)) {
			return true
		}
	}
	return !e.state.absent && e.state.regular() && !was.absent && was.regular() && was.inode == e.state.inode && was.dev == e.state.dev
}

// OfFile reports whether the content of a regular file was seen.
func (s Sighting) OfFile() bool {
	return !s.Exists && !s.Listing && !s.state.absent && s.state.regular()
}
