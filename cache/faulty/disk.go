// Package faulty is a disk for tests. It fails as disks do, with some chance at
// each operation: it is full, it cannot read or write, it tears what it writes. It can
// stop in the middle of an operation, as for a process that is killed, and then
// lose what a loss of power loses: content that was not synced, and names.
package faulty

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/fevalgraph/fevalgraph/cache/files"
)

// ErrKilled is returned by every operation once the process counts as dead.
var ErrKilled = errors.New("the process was killed")

// Never is a Weather.Kill that does not happen.
const Never = -1

// Weather configures faults. The zero Weather kills at once: set Kill.
type Weather struct {
	// Fault is the number of operations for each that fails; 0 means that none does.
	Fault int
	// Kill is the number of operations before the operation that does not return: a write is torn, and later
	// operations have no effect.
	Kill int
}

// Disk is a files.System on real files.
type Disk struct {
	mu      sync.Mutex
	rng     *rand.Rand
	weather Weather
	dead    bool
	shadow  string           // where lost names keep their files
	young   map[string]int64 // size that is certain of files that were written, by path
	names   []change         // of names, in order
	faults  map[string]int   // what has failed, by operation
}

// change is a rename or a removal that a loss of power can undo.
type change struct {
	path  string // what was replaced or removed
	from  string // where it came from; "" of a removal
	saved string // the file that was at path; "" when none was
}

var _ files.System = (*Disk)(nil)

// New returns a disk of good weather that keeps what it could lose in shadow, a
// directory on the same file system. Disks of one seed on which the same
// operations follow each other do the same.
func New(seed uint64, shadow string) *Disk {
	return &Disk{rng: rand.New(rand.NewPCG(seed, 2)), weather: Weather{Kill: Never}, shadow: shadow,
		young: map[string]int64{}, faults: map[string]int{}}
}

// Set changes the weather from now on; a dead process stays dead.
func (d *Disk) Set(w Weather) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.weather = w
}

// Dead reports whether the process was killed.
func (d *Disk) Dead() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

// Faults counts what has failed until now, by operation.
func (d *Disk) Faults() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string]int{}
	for op, n := range d.faults {
		all[op] = n
	}
	return all
}

// fault decides about one operation, and must be called with mu held: nil lets
// it happen.
func (d *Disk) fault(op, path string, kinds ...error) error {
	if d.dead {
		return &fs.PathError{Op: op, Path: path, Err: ErrKilled}
	}
	if d.weather.Kill == 0 {
		d.dead = true
		d.faults["kill in "+op]++
		return &fs.PathError{Op: op, Path: path, Err: ErrKilled}
	}
	if d.weather.Kill > 0 {
		d.weather.Kill--
	}
	if len(kinds) > 0 && d.weather.Fault > 0 && d.rng.IntN(d.weather.Fault) == 0 {
		err := kinds[d.rng.IntN(len(kinds))]
		d.faults[fmt.Sprintf("%s: %v", op, err)]++
		return &fs.PathError{Op: op, Path: path, Err: err}
	}
	return nil
}

const writes = os.O_WRONLY | os.O_RDWR

// OpenFile implements files.System.
func (d *Disk) OpenFile(path string, flag int, perm fs.FileMode) (files.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	kinds := []error{syscall.EIO}
	if flag&os.O_CREATE != 0 {
		kinds = append(kinds, syscall.ENOSPC)
	}
	if err := d.fault("open", path, kinds...); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	if flag&writes != 0 {
		fi, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		if _, known := d.young[path]; !known || flag&os.O_TRUNC != 0 {
			d.young[path] = fi.Size() // what is there already is certain
		}
	}
	return &file{File: f, disk: d}, nil
}

// Rename implements files.System.
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.fault("rename", to, syscall.EIO, syscall.ENOSPC); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Dir(to)); err != nil {
		return os.Rename(from, to) // fails as it should
	}
	saved, err := d.save(to, os.Link)
	if err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	d.names = append(d.names, change{path: to, from: from, saved: saved})
	if size, ok := d.young[from]; ok {
		d.young[to] = size
		delete(d.young, from)
	} else {
		delete(d.young, to)
	}
	return nil
}

// Remove implements files.System.
func (d *Disk) Remove(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.fault("remove", path, syscall.EIO); err != nil {
		return err
	}
	if fi, err := os.Lstat(path); err != nil || !fi.Mode().IsRegular() {
		return os.Remove(path)
	}
	saved, err := d.save(path, os.Rename)
	if err != nil {
		return err
	}
	delete(d.young, path)
	d.names = append(d.names, change{path: path, saved: saved})
	return nil
}

// save keeps the file at path, if there is one, with keep(path, place).
func (d *Disk) save(path string, keep func(from, to string) error) (string, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	place := filepath.Join(d.shadow, fmt.Sprintf("%d-%d", len(d.names), d.rng.Uint64()))
	return place, keep(path, place)
}

// MkdirAll implements files.System.
func (d *Disk) MkdirAll(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.fault("mkdir", path, syscall.EIO, syscall.ENOSPC); err != nil {
		return err
	}
	return files.OS.MkdirAll(path)
}

// Mkdir implements files.System.
func (d *Disk) Mkdir(path string, mode fs.FileMode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.fault("mkdir", path, syscall.EIO, syscall.ENOSPC); err != nil {
		return err
	}
	return files.OS.Mkdir(path, mode)
}

// Touch implements files.System.
func (d *Disk) Touch(path string, t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.fault("touch", path, syscall.EIO); err != nil {
		return err
	}
	return files.OS.Touch(path, t)
}

// LosePower loses what was not synced, or some of it: names are as they were
// before, or before the last changes, and of what was written to files since the
// last sync the end is missing or zero. No goroutine must use the disk at the same time.
func (d *Disk) LosePower() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for path, size := range d.sortedYoung() {
		if err := d.tear(path, size); err != nil {
			return err
		}
	}
	ordered := d.rng.IntN(2) == 0 // as an appended file does: the last so many
	keep := d.rng.IntN(len(d.names) + 1)
	kept := map[string]bool{}
	for i, c := range slices.Backward(d.names) {
		lost := i >= keep
		if !ordered {
			lost = d.rng.IntN(2) == 0
		}
		if !lost || kept[c.path] {
			kept[c.path] = true
			continue
		}
		if err := c.undo(); err != nil {
			return err
		}
	}
	d.names = nil
	clear(d.young)
	return nil
}

func (c change) undo() error {
	if c.from != "" {
		if err := os.Rename(c.path, c.from); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if c.saved == "" {
		return nil
	}
	return os.Rename(c.saved, c.path)
}

// sortedYoung yields the files with something to lose, in order of path.
func (d *Disk) sortedYoung() func(func(string, int64) bool) {
	paths := make([]string, 0, len(d.young))
	for path := range d.young {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return func(yield func(string, int64) bool) {
		for _, path := range paths {
			if !yield(path, d.young[path]) {
				return
			}
		}
	}
}

// tear loses some of what is in the file beyond its first certain bytes.
func (d *Disk) tear(path string, certain int64) error {
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && fi.Size() <= certain {
		return nil
	}
	if err != nil {
		return err
	}
	from := certain + d.rng.Int64N(fi.Size()-certain+1)
	switch d.rng.IntN(4) {
	case 0: // the system had written it all in time
		return nil
	case 1: // its name and size are there, its content is not
		from = certain
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(path, from); err != nil {
		return err
	}
	if d.rng.IntN(2) == 0 { // zeros to where it ended
		if err := os.Truncate(path, fi.Size()); err != nil {
			return err
		}
	}
	return os.Chtimes(path, time.Time{}, fi.ModTime())
}
