package event

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Patch says what takes the place of some bytes of results.
type Patch struct {
	At   int64           `json:"at"`   // where they begin
	Size int64           `json:"size"` // how many there are
	By   json.RawMessage `json:"by"`   // a value without space between its parts
}

// comparePatches is the order in which patches apply.
func comparePatches(a, b Patch) int { return cmp.Compare(a.At, b.At) }

// apply returns the content with the patches, which are in order.
func apply(content []byte, patches []Patch) ([]byte, error) {
	size := len(content)
	from := int64(0)
	for _, p := range patches {
		if p.At < from || p.Size < 0 || p.Size > int64(len(content)) || p.At > int64(len(content))-p.Size {
			return nil, fmt.Errorf("a patch of %d bytes at %d of %d is not after the one before it", p.Size, p.At, len(content))
		}
		size += len(p.By) - int(p.Size)
		from = p.At + p.Size
	}
	patched := make([]byte, 0, size)
	from = 0
	for _, p := range patches {
		patched = append(append(patched, content[from:p.At]...), p.By...)
		from = p.At + p.Size
	}
	return append(patched, content[from:]...), nil
}

// savePatches writes the patches of the results.
func (r *Recorder) savePatches(patches []Patch) error {
	patches = slices.SortedFunc(slices.Values(patches), comparePatches)
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // the values stay as they are
	if err := encoder.Encode(patches); err != nil {
		return err
	}
	r.sums[patchesFile] = sha256.Sum256(b.Bytes())
	return os.WriteFile(filepath.Join(r.dir, patchesFile), b.Bytes(), 0o644)
}

// PatchedResults are the results of the run as its record has them: those of a run of
// everything, and in order what takes the place of some bytes of these; nothing does
// when the run itself was one of everything. It is fs.ErrNotExist when the run ended
// without results, and a *DamagedError when a file is not what was written.
func (r *Run) PatchedResults() (results []byte, patches []Patch, err error) {
	results, err = r.read(ResultsFile)
	if !errors.Is(err, fs.ErrNotExist) {
		return results, nil, err
	}
	text, err := r.read(patchesFile)
	if err != nil {
		return nil, nil, err
	}
	damaged := func(name string) error { return &DamagedError{Run: r.ID, File: name} }
	if json.Unmarshal(text, &patches) != nil || !slices.IsSortedFunc(patches, comparePatches) {
		return nil, nil, damaged(patchesFile)
	}
	results, err = r.read(sameResults)
	if errors.Is(err, fs.ErrNotExist) {
		err = damaged(sameResults)
	}
	return results, patches, err
}

// Results returns the results of the run as results.json has them; the errors are those
// of PatchedResults.
func (r *Run) Results() ([]byte, error) {
	results, patches, err := r.PatchedResults()
	if err != nil || patches == nil {
		return results, err
	}
	if results, err = apply(results, patches); err != nil {
		return nil, &DamagedError{Run: r.ID, File: patchesFile}
	}
	return results, nil
}

// SameResults says with an error when the results of another run are others, by
// their checksums.
func (r *Run) SameResults(other string) error {
	theirs, err := OpenRun(filepath.Dir(filepath.Dir(r.dir)), other).sums()
	if err != nil {
		return err
	}
	own, err := r.sums()
	if err != nil {
		return err
	}
	known := false
	for _, name := range []string{ResultsFile, sameResults, patchesFile} {
		if own[name] != theirs[name] {
			return fmt.Errorf("run %s came to something else than run %s", r.ID, other)
		}
		_, has := own[name]
		known = known || has
	}
	if !known {
		return fmt.Errorf("nobody knows whether run %s came to the same as run %s", r.ID, other)
	}
	return nil
}

// Whole reports whether the record has events and results, whatever has become of
// these.
func (r *Run) Whole() bool {
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(r.dir, name))
		return err == nil
	}
	return has(EventsFile) && (has(ResultsFile) || has(patchesFile) && has(sameResults))
}
