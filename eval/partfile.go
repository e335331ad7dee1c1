package eval

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
)

// A partition file holds one version of what is known of a partition. It is named by
// its content, written once and never changed. It is a magic line, the table of
// sections, and the sections:
//
//	facts    what says whether the partition is still as it was, and its summary
//	rows     its nodes
//	results  the results of its cells, as report.EncodeCells encodes them
//
// The table has a length and a SHA-256 for each section; the SHA-256 of the table is
// the file's name. Rows and results are compressed.
const (
	partitionMagic = "fevalgraph-partition 2\n"
	sectionFacts   = 0
	sectionRows    = 1
	sectionResults = 2
	sections       = 3
	tableEntry     = 8 + sha256.Size
	tableSize      = sections * tableEntry
)

// partitionName is the digest of a partition file.
type partitionName [sha256.Size]byte

func (n partitionName) String() string { return hex.EncodeToString(n[:]) }

func parsePartitionName(text string) (n partitionName, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(n) {
		return n, fmt.Errorf("%q does not name a partition file", text)
	}
	return partitionName(b), nil
}

// partitionStore is the directory of a project's partition files.
type partitionStore struct{ dir string }

// errBadPartition says that a partition file is not what was written.
var errBadPartition = errors.New("malformed partition file")

// put writes a partition file, unless it is there.
func (s partitionStore) put(facts, rows, results []byte) (partitionName, error) {
	file := append(make([]byte, 0, len(partitionMagic)+tableSize+len(facts)), partitionMagic...)
	table := make([]byte, 0, tableSize)
	var content [][]byte
	for i, section := range [sections][]byte{facts, rows, results} {
		if i != sectionFacts {
			section = compressed(section)
		}
		sum := sha256.Sum256(section)
		table = append(binary.LittleEndian.AppendUint64(table, uint64(len(section))), sum[:]...)
		content = append(content, section)
	}
	name := partitionName(sha256.Sum256(table))
	path := s.path(name)
	if _, err := os.Stat(path); err == nil {
		return name, nil
	}
	file = append(file, table...)
	return name, atomicfile.Write(path, 0o644, append(file, bytes.Join(content, nil)...))
}

func (s partitionStore) path(name partitionName) string { return filepath.Join(s.dir, name.String()) }

// read returns a section of a partition file. An error other than fs.ErrNotExist says
// that the file cannot be read or is damaged.
func (s partitionStore) read(name partitionName, section int) ([]byte, error) {
	f, err := os.Open(s.path(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, len(partitionMagic)+tableSize)
	if _, err := io.ReadFull(f, head); err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Name(), errBadPartition)
	}
	table := head[len(partitionMagic):]
	if sum := sha256.Sum256(table); partitionName(sum) != name || string(head[:len(partitionMagic)]) != partitionMagic {
		return nil, fmt.Errorf("reading %s: %w", f.Name(), errBadPartition)
	}
	offset := uint64(len(head))
	for i := range section {
		offset += binary.LittleEndian.Uint64(table[i*tableEntry:])
	}
	entry := table[section*tableEntry : (section+1)*tableEntry]
	size := binary.LittleEndian.Uint64(entry)
	if info, err := f.Stat(); err != nil || offset+size > uint64(info.Size()) || offset+size < offset {
		return nil, fmt.Errorf("reading %s: %w", f.Name(), errBadPartition)
	}
	content := make([]byte, size)
	if _, err := f.ReadAt(content, int64(offset)); err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	if sum := sha256.Sum256(content); !bytes.Equal(sum[:], entry[8:]) {
		return nil, fmt.Errorf("reading %s: %w", f.Name(), errBadPartition)
	}
	if section == sectionFacts {
		return content, nil
	}
	return io.ReadAll(flate.NewReader(bytes.NewReader(content)))
}

// verified returns the facts of a partition file all of whose sections are as they were
// written: a caller that relies on the facts may read the others later.
func (s partitionStore) verified(name partitionName) ([]byte, error) {
	file, err := os.ReadFile(s.path(name))
	if err != nil {
		return nil, err
	}
	head := len(partitionMagic) + tableSize
	if len(file) < head || string(file[:len(partitionMagic)]) != partitionMagic || partitionName(sha256.Sum256(file[len(partitionMagic):head])) != name {
		return nil, fmt.Errorf("reading %s: %w", name, errBadPartition)
	}
	table, rest := file[len(partitionMagic):head], file[head:]
	var facts []byte
	for i := range sections {
		entry := table[i*tableEntry : (i+1)*tableEntry]
		size := binary.LittleEndian.Uint64(entry)
		if size > uint64(len(rest)) {
			return nil, fmt.Errorf("reading %s: %w", name, errBadPartition)
		}
		if sum := sha256.Sum256(rest[:size]); !bytes.Equal(sum[:], entry[8:]) {
			return nil, fmt.Errorf("reading %s: %w", name, errBadPartition)
		}
		if i == sectionFacts {
			facts = rest[:size]
		}
		rest = rest[size:]
	}
	return facts, nil
}

// compressed is fast rather than small: keys do not compress, and text does so well.
func compressed(b []byte) []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		panic(err) // of the level, which is a constant
	}
	w.Write(b) // to memory
	w.Close()
	return out.Bytes()
}

// sweep removes the partition files that are not in use and were written before a time.
// Other files in the directory stay.
func (s partitionStore) sweep(used map[partitionName]bool, before time.Time) error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		name, err := parsePartitionName(e.Name())
		if err != nil || used[name] {
			continue
		}
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			errs = append(errs, os.Remove(filepath.Join(s.dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
