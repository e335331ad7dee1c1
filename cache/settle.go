package cache

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/fevalgraph/fevalgraph/cache/files"
)

// settle makes files of all that journals hold now, and removes the journals. One
// of which something cannot be made a file stays as it is, and is counted in left;
// lost (nil: nobody) is told the name of one with frames that are not sound.
func (d *Disk) settle(ctx context.Context, lost func(name string)) (left int64, err error) {
	if err := d.journal.sealCurrent(); err != nil {
		left++ // who appends to it seals it
	}
	names, err := d.journal.sealedNames()
	if err != nil {
		return left, err
	}
	for _, name := range names {
		bad, err := d.settleJournal(ctx, name)
		if cause := context.Cause(ctx); cause != nil {
			return left, cause
		}
		if bad > 0 && lost != nil {
			lost(path.Join(journalDir, name))
		}
		if err != nil {
			left++
		}
	}
	return left, d.journal.closeAll()
}

// settleJournal makes files of what a sealed journal holds and removes it. It
// returns how many frames are not sound; after an error the journal stays.
func (d *Disk) settleJournal(ctx context.Context, name string) (bad int, err error) {
	bad, err = d.journal.scan(name, func(f frame) error { return errors.Join(d.makeFile(f), context.Cause(ctx)) })
	if err == nil {
		err = d.alone(func() error { return d.journal.remove(name) })
	}
	return bad, err
}

// settleOldest settles the oldest sealed journal if there are too many.
func (d *Disk) settleOldest() {
	names, err := d.journal.sealedNames()
	if err != nil || len(names) <= d.journal.sealedMost {
		return
	}
	if _, err := d.settleJournal(context.Background(), names[0]); err == nil {
		_ = d.journal.closeAll()
	}
}

// sealCurrent makes the current journal one that is never written again.
func (j *journal) sealCurrent() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.follow(); err != nil || j.current == nil {
		return err
	}
	return j.locked(func() error {
		if _, err := j.follow(); err != nil {
			return err
		}
		return j.seal()
	})
}

// scan calls fn with the sound frames of a journal until it returns an error, and
// returns how many others there are.
func (j *journal) scan(name string, fn func(frame) error) (bad int, err error) {
	b, err := files.ReadFile(j.disk.files, j.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	lost := j.framer.scan(b, func(start, end int) {
		f, ok := decodeFrame(b[start+frameHeader : end])
		switch {
		case !ok || !f.sound():
			bad++
		case err == nil:
			err = fn(f)
		}
	})
	return bad + lost, err
}

// each calls fn with the sound frames of all journals until it returns an error; one
// that was put twice may be there twice. Journals that cannot be read are unread.
func (j *journal) each(fn func(name string, f frame) error) (unread []string, err error) {
	visit := func(name string) {
		_, failed := j.scan(name, func(f frame) error {
			err = fn(name, f)
			return err
		})
		if failed != nil && err == nil {
			unread = append(unread, name)
		}
	}
	visit(currentJournal)
	names, failed := j.sealedNames() // only now: the current one may have become one of them
	if failed != nil {
		return []string{journalDir}, err
	}
	for _, name := range names {
		if err == nil {
			visit(name)
		}
	}
	return unread, err
}

// remove removes a sealed journal, the index first: without one it is still read.
func (j *journal) remove(name string) error {
	for _, name := range []string{name + indexSuffix, name} {
		if err := j.disk.files.Remove(j.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
