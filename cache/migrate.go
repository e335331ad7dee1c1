package cache

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/cache/files"
	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
)

// An earlier form of the store appended small blobs and records to journals, in
// frames like those of a build log, and made files of them later. The payload of
// one: 'b' or 'r' for blob or record, the time of the last use as nanoseconds
// since 1970, the hash of the blob or the record's key, the content.
const (
	journalDir  = "journal"
	journalLock = "journal" // in locksDir: held while one is appended to
	journalHead = 1 + 8 + 32
)

// migrate makes files of what the journals of an earlier version hold and
// removes them. A journal that cannot be migrated stays for the next OpenDisk;
// until then, what is only in it is a miss.
func (d *Disk) migrate() {
	if _, err := os.Lstat(d.path(journalDir)); err != nil {
		return
	}
	lock := lockedfile.Mutex{Path: d.path(locksDir, journalLock)}
	defer lock.Close()
	_ = lock.Exclusive(func() error {
		entries, err := readDir(d.path(journalDir))
		for _, e := range entries {
			if err == nil && !strings.HasSuffix(e.Name(), ".index") {
				err = d.migrateJournal(d.path(journalDir, e.Name()))
			}
		}
		if err != nil {
			return err
		}
		return os.RemoveAll(d.path(journalDir))
	})
}

func (d *Disk) migrateJournal(path string) error {
	b, err := files.ReadFile(d.files, path)
	if err != nil {
		return err
	}
	newFramer().scan(b, func(start, end int) {
		if payload := b[start+frameHeader : end]; len(payload) >= journalHead {
			err = errors.Join(err, d.migrateFrame(payload))
		}
	})
	return err
}

// migrateFrame makes a file of a frame, unless there is one that was used no
// earlier. A frame that is not sound is skipped.
func (d *Disk) migrateFrame(payload []byte) error {
	used := time.Unix(0, int64(binary.LittleEndian.Uint64(payload[1:])))
	hash, content := [32]byte(payload[9:]), payload[journalHead:]
	var path string
	switch payload[0] {
	case 'b':
		if SumBytes(content).Hash != hash {
			return nil
		}
		path = d.blobPath(Digest{Hash: hash})
	case 'r':
		if _, err := DecodeRecord(nil, hash, content); err != nil {
			return nil //nolint:nilerr // damaged: a miss
		}
		path = d.recordPath(hash)
	default:
		return nil
	}
	fi, err := os.Lstat(path)
	switch {
	case err == nil && fi.Size() > 0 && !fi.ModTime().Before(used):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := d.writeFile(path, content); err != nil {
		return err
	}
	return d.files.Touch(path, used)
}
