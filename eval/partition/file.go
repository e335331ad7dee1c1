package partition

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
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/internal/frozen"
	"github.com/fevalgraph/fevalgraph/report"
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
	fileMagic      = "fevalgraph-partition 13\n"
	sectionFacts   = 0
	sectionRows    = 1
	sectionResults = 2
	sections       = 3
	tableEntry     = 8 + sha256.Size
	tableSize      = sections * tableEntry
	headSize       = len(fileMagic) + tableSize
)

// Name is the digest of a partition file.
type Name [sha256.Size]byte

func (n Name) String() string { return hex.EncodeToString(n[:]) }

// ParseName parses the result of Name.String.
func ParseName(text string) (n Name, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(n) {
		return n, fmt.Errorf("%q does not name a partition file", text)
	}
	return Name(b), nil
}

// Store is a directory of partition files.
type Store struct{ Dir string }

// StoreIn returns the store of partition files in a state directory.
func StoreIn(state string) Store { return Store{filepath.Join(state, "partitions")} }

// ErrDamaged means that a partition file was changed after it was written.
var ErrDamaged = errors.New("malformed partition file")

// largestSection limits the size of an uncompressed section, in bytes.
const largestSection = 1 << 30

// encodings are reused, like compressors: a run writes the partitions one after another while its memory use is
// highest.
var encodings = sync.Pool{New: func() any { return new([]byte) }}

// Put writes a partition file, unless it exists. Without facts no run relies on it: it contains only results
// and the nodes that produced them.
func (s Store) Put(facts *Facts, rows []graph.Row, results []report.Cell) (name Name, err error) {
	cells, err := report.EncodeCells(results)
	buffer := encodings.Get().(*[]byte)
	defer encodings.Put(buffer)
	encoded, size := (*buffer)[:0], 0
	if err == nil && facts != nil {
		encoded, err = frozen.Append(encoded, facts)
	}
	if size = len(encoded); err == nil && len(rows) > 0 {
		encoded, err = frozen.Append(encoded, &rows)
	}
	if err != nil {
		return name, err
	}
	*buffer = encoded
	return s.put(encoded[:size], encoded[size:], cells)
}

// Facts reads the facts in a partition file if all of its sections are undamaged: a caller that relies on
// the facts can read the others later.
func (s Store) Facts(name Name) (*Facts, error) {
	content, err := s.verifiedFacts(name)
	if err != nil {
		return nil, err
	}
	f := new(Facts)
	return f, frozen.Decode(content, f)
}

// Rows reads the nodes of a partition that have answers. As with Results, an error other than fs.ErrNotExist
// means that the file cannot be read or is damaged.
func (s Store) Rows(name Name) (rows []graph.Row, err error) {
	content, err := s.read(name, sectionRows)
	if err != nil || len(content) == 0 {
		return nil, err
	}
	return rows, frozen.Decode(content, &rows)
}

// HasFacts reports whether a partition was written with facts: all of its nodes have answers.
func (s Store) HasFacts(name Name) (bool, error) {
	content, err := s.read(name, sectionFacts)
	return len(content) > 0, err
}

// Results reads the results of a partition's cells.
func (s Store) Results(name Name) ([]report.Cell, error) {
	content, err := s.read(name, sectionResults)
	if err != nil {
		return nil, err
	}
	return report.DecodeCells(content)
}

// Texts returns the stored results of a partition's cells; see report.SplitCells.
func (s Store) Texts(name Name) ([][]byte, error) {
	content, err := s.read(name, sectionResults)
	return report.SplitCells(content), err
}

// Checkpoints returns the number of checkpoints of each cell in a partition, as report.Cell.Listed counts
// them.
func (s Store) Checkpoints(name Name) (ofCells []int, err error) {
	content, err := s.read(name, sectionFacts)
	if err != nil {
		return nil, err
	}
	if len(content) == 0 { // no facts
		cells, err := s.Results(name)
		for i := range cells {
			ofCells = append(ofCells, len(cells[i].Listed()))
		}
		return ofCells, err
	}
	f := new(Facts)
	err = frozen.Decode(content, f)
	for i := range f.Summary {
		ofCells = append(ofCells, f.Summary[i].Checkpoints)
	}
	return ofCells, err
}

func (s Store) put(facts, rows, results []byte) (Name, error) {
	head := append(make([]byte, 0, headSize), fileMagic...)
	file := bytes.NewBuffer(make([]byte, headSize, headSize+len(facts)+(len(rows)+len(results))/2))
	for i, section := range [sections][]byte{facts, rows, results} {
		from := file.Len()
		if i == sectionFacts {
			file.Write(section)
		} else {
			compress(file, section)
		}
		written := file.Bytes()[from:]
		sum := sha256.Sum256(written)
		head = append(binary.LittleEndian.AppendUint64(head, uint64(len(written))), sum[:]...)
	}
	name := Name(sha256.Sum256(head[len(fileMagic):]))
	path := s.path(name)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		return name, nil
	}
	copy(file.Bytes(), head)
	return name, atomicfile.Write(path, 0o644, file.Bytes())
}

// open opens a partition file and parses its table. It rejects links and devices, which a directory from elsewhere can
// contain, and which could be read without end.
func (s Store) open(name Name) (f *os.File, all [sections]section, err error) {
	info, err := os.Lstat(s.path(name))
	if err != nil {
		return nil, all, err
	}
	if !info.Mode().IsRegular() {
		return nil, all, fmt.Errorf("reading %s: %w: it is not a regular file", s.path(name), ErrDamaged)
	}
	if f, err = os.Open(s.path(name)); err != nil {
		return nil, all, err
	}
	head := make([]byte, headSize)
	n, _ := io.ReadFull(f, head)
	if all, err = sectionsOf(head[:n], info.Size(), name); err != nil {
		f.Close()
		return nil, all, fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	return f, all, nil
}

func (s Store) path(name Name) string { return filepath.Join(s.Dir, name.String()) }

// section is the location and the digest of a section.
type section struct {
	offset, size uint64
	sum          [sha256.Size]byte
}

// read reads the section, as it is stored.
func (s section) read(f *os.File) ([]byte, error) {
	content := make([]byte, s.size)
	_, err := f.ReadAt(content, int64(s.offset))
	if err == nil && sha256.Sum256(content) != s.sum {
		err = ErrDamaged
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	return content, nil
}

// sectionsOf parses the beginning of a file of size bytes, which must have the name.
func sectionsOf(head []byte, size int64, name Name) (all [sections]section, err error) {
	if len(head) < headSize || string(head[:len(fileMagic)]) != fileMagic || Name(sha256.Sum256(head[len(fileMagic):headSize])) != name {
		return all, ErrDamaged
	}
	table, offset := head[len(fileMagic):headSize], uint64(headSize)
	for i := range all {
		entry := table[i*tableEntry : (i+1)*tableEntry]
		all[i] = section{offset, binary.LittleEndian.Uint64(entry), [sha256.Size]byte(entry[8:])}
		if all[i].size > uint64(size)-offset {
			return all, ErrDamaged
		}
		offset += all[i].size
	}
	return all, nil
}

// read returns a section of a partition file, uncompressed.
func (s Store) read(name Name, at int) ([]byte, error) {
	f, all, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := all[at].read(f)
	if err != nil || at == sectionFacts {
		return content, err
	}
	return io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(content)), largestSection))
}

// verifiedFacts returns the facts of an undamaged partition file.
func (s Store) verifiedFacts(name Name) (facts []byte, err error) {
	f, all, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for at := len(all) - 1; at >= 0 && err == nil; at-- {
		facts, err = all[at].read(f)
	}
	return facts, err
}

// compressors are reused: each has a megabyte of tables. They are fast rather than small: keys do not compress,
// and text compresses well anyway.
var compressors = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // of the level, which is a constant
	}
	return w
}}

// compress appends b in memory.
func compress(to *bytes.Buffer, b []byte) {
	w := compressors.Get().(*flate.Writer)
	defer compressors.Put(w)
	w.Reset(to)
	w.Write(b)
	w.Close()
}

// Sweep removes unused partition files that were written before a time, and returns their size in bytes. A dry
// run only returns the size. Other files in the directory stay.
func (s Store) Sweep(used map[Name]bool, before time.Time, dryRun bool) (bytes int64, err error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	errs := []error{err}
	for _, e := range entries {
		name, err := ParseName(e.Name())
		if err != nil || used[name] {
			continue
		}
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			bytes += info.Size()
			if !dryRun {
				errs = append(errs, os.Remove(filepath.Join(s.Dir, e.Name())))
			}
		}
	}
	return bytes, errors.Join(errs...)
}
