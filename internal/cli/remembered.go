package cli

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
)

// A file of what is remembered begins with a magic text, the sizes of its sections
// and the sum of all of this and these; then come the sections, and the state of files, which has a
// checksum of its own.

var errBadUnchanged = errors.New("malformed record of an unchanged run")

func writeRemembered(path, magic string, snapshot *cache.Snapshot, sections ...[]byte) error {
	head := []byte(magic)
	for _, section := range sections {
		head = binary.LittleEndian.AppendUint64(head, uint64(len(section)))
	}
	sum := sha256.New()
	for _, part := range append([][]byte{head}, sections...) {
		sum.Write(part)
	}
	parts := append([][]byte{sum.Sum(head)}, sections...)
	return atomicfile.Write(path, 0o600, append(parts, snapshot.Parts()...)...)
}

// splitRemembered takes apart what writeRemembered wrote, with n sections. They
// share memory with b.
func splitRemembered(b []byte, magic string, n int) (sections [][]byte, snapshot *cache.Snapshot, err error) {
	header := len(magic) + 8*n + sha256.Size
	if len(b) < header || string(b[:len(magic)]) != magic {
		return nil, nil, errBadUnchanged
	}
	sum := sha256.New()
	sum.Write(b[:header-sha256.Size])
	rest := b[header:]
	for i := range n {
		size := binary.LittleEndian.Uint64(b[len(magic)+8*i:])
		if size > uint64(len(rest)) {
			return nil, nil, errBadUnchanged
		}
		sections = append(sections, rest[:size:size])
		sum.Write(rest[:size])
		rest = rest[size:]
	}
	if string(sum.Sum(nil)) != string(b[header-sha256.Size:header]) {
		return nil, nil, errBadUnchanged
	}
	snapshot, err = cache.DecodeSnapshot(rest)
	return sections, snapshot, err
}
