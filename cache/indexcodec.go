package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
)

// A saved index is indexMagic, then one record of indexRecordSize bytes per
// entry in order of its id, then the SHA-256 of all of that. Numbers are
// little-endian:
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
	indexMagic      = "fevalgraph-index 1\n"
	indexRecordSize = 92
)

var errBadIndex = errors.New("malformed file index")

func encodeIndex(entries map[pathID]indexEntry) []byte {
	ids := make([]pathID, 0, len(entries))
	for id := range entries {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b pathID) int { return bytes.Compare(a[:], b[:]) })
	b := make([]byte, 0, len(indexMagic)+len(ids)*indexRecordSize+sha256.Size)
	b = append(b, indexMagic...)
	le := binary.LittleEndian
	for _, id := range ids {
		e := entries[id]
		b = append(b, id[:]...)
		b = le.AppendUint64(b, uint64(e.state.size))
		b = le.AppendUint64(b, uint64(e.state.mtime))
		b = le.AppendUint64(b, uint64(e.state.ctime))
		b = le.AppendUint64(b, e.state.inode)
		b = le.AppendUint64(b, e.state.dev)
		b = append(b, e.hash[:]...)
		b = le.AppendUint32(b, e.used)
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// decodeIndex reads what encodeIndex wrote; one wrong bit refuses it all.
func decodeIndex(b []byte) (map[pathID]indexEntry, error) {
	body := len(b) - sha256.Size
	if body < len(indexMagic) || (body-len(indexMagic))%indexRecordSize != 0 || string(b[:len(indexMagic)]) != indexMagic {
		return nil, errBadIndex
	}
	if sum := sha256.Sum256(b[:body]); !bytes.Equal(sum[:], b[body:]) {
		return nil, errBadIndex
	}
	le := binary.LittleEndian
	entries := make(map[pathID]indexEntry, (body-len(indexMagic))/indexRecordSize)
	for r := range slices.Chunk(b[len(indexMagic):body], indexRecordSize) {
		entries[pathID(r[0:16])] = indexEntry{
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
	return entries, nil
}
