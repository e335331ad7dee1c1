package event

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// SumsFile is the file in a run's directory that detects changes of the others: their SHA-256 and names, in
// the format of `sha256sum -c`, and a comment with the proof of these. A run that did not end has none.
const (
	SumsFile    = "sums"
	proofPrefix = "# proof "
)

// Maximum sizes of files that are read as a whole, in bytes: far above those of the largest runs.
const (
	largestFile      = 256 << 20
	largestUnproven  = 1 << 30 // for events of a run without sums
	largestEventLine = 64 << 20
)

// ForeignError means that a run's record is not proven by the key of its Records.
type ForeignError struct{ Run string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("run %s was recorded by another user or with another key, so its record does not count; `fevalgraph run` records another", e.Run)
}

// DamagedError means that a file of a run's record was changed after it was written.
type DamagedError struct {
	Run  string
	File string // within the run's directory
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the record of run %s is damaged: %s was modified; `fevalgraph run` records another", e.Run, e.File)
}

// sums are the SHA-256 of files, by their names in the run's directory.
type sums map[string][sha256.Size]byte

func (s sums) encode(key proof.Key, run string) []byte {
	text := s.lines()
	return append(text, proofLine(key, run, text)...)
}

// proofLine contains the SHA-256 of the lines before it, which distinguishes damage from the proof of
// another key.
func proofLine(key proof.Key, run string, lines []byte) []byte {
	sum := sha256.Sum256(lines)
	return fmt.Appendf(nil, "%s%x %x\n", proofPrefix, sum, key.Of([]byte("run\x00"+run+"\x00"), sum[:]))
}

func (s sums) lines() []byte {
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	var b bytes.Buffer
	for _, name := range names {
		fmt.Fprintf(&b, "%x  %s\n", s[name], name)
	}
	return b.Bytes()
}

var errBadSums = errors.New("malformed list of sums")

// decodeSums decodes the output of encode, and rejects anything else. It returns a *ForeignError for sums
// that are not proven.
func decodeSums(key proof.Key, run string, text []byte) (sums, error) {
	s := sums{}
	at := bytes.LastIndex(text, []byte(proofPrefix))
	if at < 0 {
		return nil, errBadSums
	}
	said := text[at:]
	text = text[:at]
	line, sum := proofLine(key, run, text), len(proofPrefix)+2*sha256.Size
	switch {
	case len(said) != len(line) || !bytes.Equal(said[:sum], line[:sum]) || said[sum] != ' ' || said[len(said)-1] != '\n':
		return nil, errBadSums
	case !hmac.Equal(said, line):
		return nil, &ForeignError{Run: run}
	}
	for line := range strings.Lines(string(text)) {
		digits, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		sum, err := hex.DecodeString(digits)
		if !ok || err != nil || len(sum) != sha256.Size || !isRecordFile(name) {
			return nil, errBadSums
		}
		s[name] = [sha256.Size]byte(sum)
	}
	if !bytes.Equal(s.lines(), text) {
		return nil, errBadSums
	}
	return s, nil
}

// isRecordFile reports whether a record contains files of that name.
func isRecordFile(name string) bool {
	switch name {
	case EventsFile, ManifestFile:
		return true
	}
	log, ok := strings.CutPrefix(name, logsDir+"/")
	digits, named := strings.CutSuffix(log, logSuffix)
	_, err := hex.DecodeString(digits)
	return ok && named && err == nil
}

// sums reads the sums of the run, or returns nil if it has none. It returns a *DamagedError if they are
// damaged themselves, and a *ForeignError if they are not proven.
func (r *Run) sums() (sums, error) {
	text, err := r.readFile(SumsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the run record: %w", err)
	}
	s, err := decodeSums(r.state.Key, r.ID, text)
	var foreign *ForeignError
	if errors.As(err, &foreign) {
		r.state.foreign(filepath.Join(r.dir, SumsFile))
		return nil, err
	}
	if err != nil {
		return nil, &DamagedError{Run: r.ID, File: SumsFile}
	}
	return s, nil
}

// Foreign reports whether another user, or another key, proves the record.
func (r *Run) Foreign() bool {
	_, err := r.sums()
	var foreign *ForeignError
	return errors.As(err, &foreign)
}

// check compares the sum of a file's content with the recorded one.
func (s sums) check(r *Run, name string, sum []byte) error {
	all := s
	want, listed := all[name]
	if missing := all != nil && !listed; missing || listed && !bytes.Equal(want[:], sum) {
		return &DamagedError{Run: r.ID, File: name}
	}
	return nil
}

// read returns the content of a file of the record, if it is unchanged. It reads the sums first: no other
// file of an unproven record is read.
func (r *Run) read(name string) ([]byte, error) {
	all, err := r.sums()
	if err != nil {
		return nil, err
	}
	content, err := r.readFile(name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	return content, all.check(r, name, sum[:])
}
