package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"
)

// put appends a frame. When it returns nil, what it holds is there for all
// processes and survives the end of this one, but not of the machine's power.
func (j *journal) put(r ref, content []byte) error {
	return j.append(frame{r, time.Now().UnixNano(), content})
}

func (j *journal) append(f frame) error {
	sealed, err := j.appendFrame(f)
	if err == nil && sealed {
		j.disk.settleOldest() // or the next that seals one does
	}
	return err
}

// appendFrame reports whether the journal was sealed after it.
func (j *journal) appendFrame(f frame) (sealed bool, err error) {
	b := appendFrame(j.framer.start(make([]byte, 0, frameHeader+frameHead+len(f.content))), f)
	if len(b)-frameHeader > maxPayload {
		return false, fmt.Errorf("%d bytes are too many", len(f.content))
	}
	j.framer.seal(b)
	j.mu.Lock()
	defer j.mu.Unlock()
	err = j.locked(func() error {
		if err := j.ready(); err != nil {
			return err
		}
		c := j.current
		at := c.seen
		if err := c.write(b); err != nil {
			return err
		}
		c.places[f.ref] = place{at, len(f.content), f.used}
		sealed = c.seen >= j.limit && j.seal() == nil // or else the next to append does
		return nil
	})
	return sealed, err
}

// locked runs fn, which changes the current journal, while no other process does.
func (j *journal) locked(fn func() error) error {
	return j.lock.hold(j.disk.path(locksDir, journalLock), fn)
}

// ready makes the current journal one that can be appended to: all of it was read.
func (j *journal) ready() error {
	if _, err := j.follow(); err != nil || j.current != nil {
		return err
	}
	const flag = os.O_RDWR | os.O_CREATE | os.O_APPEND
	err := j.open(flag)
	if errors.Is(err, fs.ErrNotExist) {
		if err := j.disk.files.MkdirAll(j.disk.path(journalDir)); err != nil {
			return err
		}
		err = j.open(flag)
	}
	return err
}

// write appends a frame whole or, as far as it can, not at all.
func (c *current) write(b []byte) error {
	if _, err := c.file.Write(b); err != nil {
		return errors.Join(err, c.file.Truncate(c.seen))
	}
	c.seen += int64(len(b))
	c.good = c.seen
	return nil
}

// seal gives the current journal an index and a name of its own, and begins
// another. It is called with the lock. On a full disk it goes without an index.
func (j *journal) seal() error {
	c := j.current
	if c == nil || c.seen == 0 {
		return nil
	}
	// In order of time, and unlike any that somebody whose clock is the same makes.
	name := fmt.Sprintf("%016x-%08x", time.Now().UnixNano(), rand.Uint32())
	_ = j.disk.writeFile(j.path(name+indexSuffix), encodeRefs(c.places))
	if err := j.disk.files.Rename(j.path(currentJournal), j.path(name)); err != nil {
		return errors.Join(err, j.disk.files.Remove(j.path(name+indexSuffix)))
	}
	return j.ready()
}
