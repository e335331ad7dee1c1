package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"sort"
)

// A saved index is indexMagic, then one record of indexRecordSize bytes per
// entry in order of its id, all of it sealed. Numbers are little-endian:
//
//	0   id      [16]byte
//	16  size    int64
//	24  mtime   int64
//	32  ctime   int64
//	40  inode   uint64
//	48  dev     uint64
//	56  hash    [32]byte
//	88  used    uint32
const (
	indexMagic      = "fevalgraph-index 2\n"
	indexRecordSize = 92
)

var errBadIndex = errors.New("malformed file index")

// indexTable contains the entries of an index: the saved table, which is
// searched without decoding, and changes since. Most runs need only few of
// many entries.
type indexTable struct {
	saved   []byte                 // records
	changes map[pathID]*indexEntry // nil means removed
}

// get returns the entry with an id.
func (t *indexTable) get(id pathID) (indexEntry, bool) {
	if e, changed := t.changes[id]; e != nil {
		return *e, true
	} else if changed {
		return indexEntry{}, false
	}
	at, found := sort.Find(len(t.saved)/indexRecordSize, func(i int) int { return bytes.Compare(id[:], t.record(i)[:len(id)]) })
	if !found {
		return indexEntry{}, false
	}
	return decodeIndexEntry(t.record(at)), true
}

func (t *indexTable) record(i int) []byte {
	return t.saved[i*indexRecordSize : (i+1)*indexRecordSize]
}

func (t *indexTable) put(id pathID, e indexEntry) { t.change(id, &e) }

// remove removes an entry, and reports whether it existed.
func (t *indexTable) remove(id pathID) bool {
	_, ok := t.get(id)
	if ok {
		t.change(id, nil)
	}
	return ok
}

func (t *indexTable) change(id pathID, e *indexEntry) {
	if t.changes == nil {
		t.changes = map[pathID]*indexEntry{}
	}
	t.changes[id] = e
}

// encode returns the saved form of the entries that were last used on a day or
// later.
func (t *indexTable) encode(oldest uint32) []byte {
	b := make([]byte, 0, len(indexMagic)+len(t.saved)+len(t.changes)*indexRecordSize)
	b = append(b, indexMagic...)
	keep := func(record []byte) {
		if binary.LittleEndian.Uint32(record[indexRecordSize-4:]) >= oldest {
			b = append(b, record...)
		}
	}
	rest := t.saved
	for _, id := range slices.SortedFunc(maps.Keys(t.changes), func(a, b pathID) int { return bytes.Compare(a[:], b[:]) }) {
		for len(rest) > 0 && bytes.Compare(rest[:len(id)], id[:]) < 0 {
			keep(rest[:indexRecordSize])
			rest = rest[indexRecordSize:]
		}
		if len(rest) > 0 && pathID(rest) == id {
			rest = rest[indexRecordSize:]
		}
		if e := t.changes[id]; e != nil {
			keep(appendIndexEntry(nil, id, e))
		}
	}
	for r := range slices.Chunk(rest, indexRecordSize) {
		keep(r)
	}
	return b
}

// decodeIndex decodes the result of encode. It retains b.
func decodeIndex(b []byte) (indexTable, error) {
	if len(b) < len(indexMagic) || (len(b)-len(indexMagic))%indexRecordSize != 0 || string(b[:len(indexMagic)]) != indexMagic {
		return indexTable{}, errBadIndex
	}
	t := indexTable{saved: b[len(indexMagic):]}
	var last []byte
	for r := range slices.Chunk(t.saved, indexRecordSize) {
		id := r[:len(pathID{})]
		if last != nil && bytes.Compare(last, id) >= 0 {
			return indexTable{}, errBadIndex
		}
		last = id
	}
	return t, nil
}

func appendIndexEntry(b []byte, id pathID, e *indexEntry) []byte {
	le := binary.LittleEndian
	b = append(b, id[:]...)
	b = le.AppendUint64(b, uint64(e.state.size))
	b = le.AppendUint64(b, uint64(e.state.mtime))
	b = le.AppendUint64(b, uint64(e.state.ctime))
	b = le.AppendUint64(b, e.state.inode)
	b = le.AppendUint64(b, e.state.dev)
	b = append(b, e.hash[:]...)
	return le.AppendUint32(b, e.used)
}

func decodeIndexEntry(r []byte) indexEntry {
	le := binary.LittleEndian
	return indexEntry{
		state: fileState{
			size:  int64(le.Uint64(r[16:])),
			mtime: int64(le.Uint64(r[24:])),
			ctime: int64(le.Uint64(r[32:])),
			inode: le.Uint64(r[40:]),
			dev:   le.Uint64(r[48:]),
		},
		hash: [sha256.Size]byte(r[56:88]),
		used: le.Uint32(r[88:]),
	}
}
