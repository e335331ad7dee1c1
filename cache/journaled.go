package cache

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// journaled reports whether a journal has the blob, and whether it will for a while.
// It counts as a use: what was put long ago gets a file, whose time tells of uses.
func (d *Disk) journaled(g Digest) (there, stays bool) {
	if g.Size > maxJournaled {
		return false, false
	}
	p, ok := d.journal.find(ref{blobKind, g.Hash})
	switch {
	case !ok || int64(p.size) != g.Size:
		return false, false
	case isRecent(p.used):
		return true, true
	}
	f, ok := d.journal.get(ref{blobKind, g.Hash})
	return ok, ok && !d.readOnly && d.use(f)
}

// readJournaled reads a blob that a journal has, and counts as a use. One that is
// not what it was is forgotten.
func (d *Disk) readJournaled(g Digest) (f frame, ok bool) {
	if g.Size > maxJournaled {
		return frame{}, false
	}
	for {
		f, ok = d.journal.get(ref{blobKind, g.Hash})
		if !ok || int64(len(f.content)) != g.Size {
			return frame{}, false
		}
		if SumBytes(f.content) == g {
			break
		}
		d.journal.forget(f.ref)
	}
	if !isRecent(f.used) && !d.readOnly {
		d.use(f)
	}
	return f, true
}

// journaledRecord reads a record that a journal has, and counts as a use. One that
// is not what it was is forgotten.
func (d *Disk) journaledRecord(k Key) (r *Record, ok bool) {
	f, ok := d.journal.get(ref{recordKind, k})
	if !ok {
		return nil, false
	}
	r, err := decodeRecord(k, f.content)
	switch {
	case errors.Is(err, errForeignRecord):
		return nil, true
	case err != nil:
		d.journal.forget(f.ref)
		return nil, false
	}
	if !isRecent(f.used) && !d.readOnly {
		d.use(f)
	}
	return r, true
}

// use makes a file of a frame that was put long ago, or finds it, and notes a use of
// that.
func (d *Disk) use(f frame) bool {
	fi, err := os.Lstat(d.framePath(f.ref))
	if used := fileUse(fi, err); used >= f.used && isRecent(used) && (f.kind == recordKind || fi.Size() == int64(len(f.content))) {
		return true
	}
	f.used = time.Now().UnixNano()
	return d.makeFile(f) == nil
}

// fileUse is when the last use of a file was noted that Lstat told of; 0 when there
// is none.
func fileUse(fi fs.FileInfo, err error) int64 {
	if err != nil {
		return 0
	}
	return fi.ModTime().UnixNano()
}

func (d *Disk) framePath(r ref) string {
	if r.kind == recordKind {
		return d.recordPath(r.hash)
	}
	return d.blobPath(Digest{Hash: r.hash})
}

// makeFile gives a frame a file of its own, unless there is one that was used no
// earlier. The frame stays where it is.
func (d *Disk) makeFile(f frame) error {
	path := d.framePath(f.ref)
	fi, err := os.Lstat(path)
	used := fileUse(fi, err)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && f.kind == blobKind && fi.Size() == int64(len(f.content)):
		if used >= f.used {
			return nil
		}
		return d.sharing(func() error { return d.files.Touch(path, f.when()) })
	case err == nil && f.kind == recordKind && used >= f.used:
		return nil
	}
	temp, err := d.createTemp("file")
	if err != nil {
		return err
	}
	_, err = temp.Write(f.content)
	if err == nil {
		err = d.files.Touch(temp.Name(), f.when())
	}
	return d.publish(temp, path, err)
}

// sound reports whether the frame holds what it says.
func (f frame) sound() bool {
	if f.kind == blobKind {
		return SumBytes(f.content).Hash == f.hash
	}
	_, err := decodeRecord(f.hash, f.content)
	return err == nil || errors.Is(err, errForeignRecord)
}

func (f frame) when() time.Time { return time.Unix(0, f.used) }

// eachWithoutFile is journal.each for what is in journals only.
func (d *Disk) eachWithoutFile(fn func(name string, f frame) error) (unread []string, err error) {
	return d.journal.each(func(name string, f frame) error {
		if _, err := os.Lstat(d.framePath(f.ref)); err == nil {
			return nil
		}
		return fn(name, f)
	})
}
