package cache

import (
	"os"
	"path/filepath"
	"sync"
)

// spillParts is how many parts a spill has: one for each shard of a store.
const spillParts = 256

// spillRoom is how much a spill keeps in memory, in bytes.
const spillRoom = 4 << 20

// spill keeps many small entries in parts, each of which is read back as a whole
// and in no order. What has no room in memory is in a file without a name. Its
// methods are safe for concurrent use, except that nobody may add to a part
// that is being read.
type spill struct {
	room int      // bytes in memory
	dirs []string // where files may be, the best place first

	mu     sync.Mutex
	parts  [spillParts][]byte
	chunks [spillParts][]chunk
	size   int // bytes in parts
	count  int64
	files  []*os.File // the last one is written to
	end    int64      // of that one
}

// chunk is a stretch of a part that is in a file.
type chunk struct {
	file   *os.File
	offset int64
	size   int
}

// newSpill returns an empty spill. On a disk that is full, which is where gc is
// needed most, there is another place for its files.
func (d *Disk) newSpill() *spill {
	s := &spill{room: spillRoom, dirs: []string{d.path(tmpDir), os.TempDir()}}
	if d.readOnly {
		s.dirs = s.dirs[1:]
	}
	return s
}

// add adds an entry to a part.
func (s *spill) add(part byte, entry []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts[part] = append(s.parts[part], entry...)
	s.size += len(entry)
	s.count++
	if s.size < s.room {
		return nil
	}
	return s.flush()
}

// flush writes all that is in memory.
func (s *spill) flush() error {
	if len(s.files) == 0 {
		if err := s.open(); err != nil {
			return err
		}
	}
	for i := range s.parts {
		for len(s.parts[i]) > 0 {
			f := s.files[len(s.files)-1]
			_, err := f.WriteAt(s.parts[i], s.end)
			if err != nil {
				if s.open() != nil { // no other place
					return err
				}
				continue
			}
			n := len(s.parts[i])
			s.chunks[i] = append(s.chunks[i], chunk{f, s.end, n})
			s.end += int64(n)
			s.parts[i] = s.parts[i][:0]
		}
		if cap(s.parts[i]) > 2*s.room/spillParts { // of entries that come part by part, each would keep as much
			s.parts[i] = nil
		}
	}
	s.size = 0
	return nil
}

// open begins a file in the next place.
func (s *spill) open() error {
	var err error = os.ErrNotExist
	for len(s.dirs) > 0 {
		dir := s.dirs[0]
		s.dirs = s.dirs[1:]
		var f *os.File
		if f, err = os.CreateTemp(dir, "spill-*"); err == nil {
			_ = os.Remove(f.Name()) // else gc removes it one day, as it is in tmp
			s.files, s.end = append(s.files, f), 0
			return nil
		}
	}
	return err
}

// read calls fn with stretches of whole entries until it has seen all of a part.
func (s *spill) read(part byte, fn func([]byte)) error {
	s.mu.Lock()
	chunks, rest := s.chunks[part], s.parts[part]
	s.mu.Unlock()
	var b []byte
	for _, c := range chunks {
		if cap(b) < c.size {
			b = make([]byte, c.size)
		}
		if _, err := c.file.ReadAt(b[:c.size], c.offset); err != nil {
			return err
		}
		fn(b[:c.size])
	}
	fn(rest)
	return nil
}

// close lets go of the files.
func (s *spill) close() {
	for _, f := range s.files {
		f.Close()
		os.Remove(filepath.Clean(f.Name())) // where an open file keeps its name
	}
	s.files = nil
}
