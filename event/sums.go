package event

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// SumsFile is the file of a run's directory that tells whether the others are as
// they were written: their SHA-256 and names, as `sha256sum -c` reads them. A
// run that did not end, or that an old version recorded, has none.
const SumsFile = "sums"

// DamagedError says that a file of a run's record is not what was written.
type DamagedError struct {
	Run  string
	File string // within the run's directory
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the record of run %s is damaged: %s is not as it was written; `fevalgraph run` makes another record", e.Run, e.File)
}

// sums are the SHA-256 of files, by their names in the run's directory.
type sums map[string][sha256.Size]byte

func (s sums) encode() []byte {
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

// decodeSums reads what encode wrote, and nothing else.
func decodeSums(text []byte) (sums, error) {
	s := sums{}
	for line := range strings.Lines(string(text)) {
		digits, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		sum, err := hex.DecodeString(digits)
		if !ok || err != nil || len(sum) != sha256.Size || !isRecordFile(name) {
			return nil, errBadSums
		}
		s[name] = [sha256.Size]byte(sum)
	}
	if !bytes.Equal(s.encode(), text) {
		return nil, errBadSums
	}
	return s, nil
}

// isRecordFile reports whether a record has files of that name.
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

// sums reads the sums of the run; nil when it has none. Sums that are damaged
// themselves are a *DamagedError.
func (r *Run) sums() (sums, error) {
	text, err := r.readFile(SumsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the run record: %w", err)
	}
	s, err := decodeSums(text)
	if err != nil {
		return nil, &DamagedError{Run: r.ID, File: SumsFile}
	}
	return s, nil
}

// check compares what was read of a file with what was written.
func (r *Run) check(name string, sum []byte) error {
	all, err := r.sums()
	if err != nil {
		return err
	}
	want, listed := all[name]
	if missing := all != nil && !listed; missing || listed && !bytes.Equal(want[:], sum) {
		return &DamagedError{Run: r.ID, File: name}
	}
	return nil
}

// read returns the content of a file of the record, if it is what was written.
func (r *Run) read(name string) ([]byte, error) {
	content, err := r.readFile(name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	return content, r.check(name, sum[:])
}
