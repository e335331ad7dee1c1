// Package requirements pins the requirements of Python problems: for each set of requirements, a lock file
// next to the configuration records the exact version of every package, so that a verdict does not depend
// on the date. uv resolves; this package calls it and stores the results.
package requirements

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
)

// FileName is the lock file's name, next to fevalgraph.hcl.
const FileName = "fevalgraph.lock"

// schema of the lock file.
const schema = 1

// Set is a resolved set of requirements.
type Set struct {
	Python   string   `json:"python"`   // "3.11": versions depend on it
	Platform string   `json:"platform"` // "linux/amd64": versions depend on it
	Requires []string `json:"requires"` // literal, sorted, distinct
	Pins     []string `json:"pins"`     // name==version, sorted by name
	// Hashes maps "name version" to the hashes of the installable files. Lock files of earlier versions,
	// repositories, directories, and versions that a user entered have none.
	Hashes map[string][]string `json:"hashes,omitempty"`
}

// String names the set.
func (s Set) String() string {
	return fmt.Sprintf("[%s] for Python %s on %s", strings.Join(s.Requires, ", "), s.Python, s.Platform)
}

// Lock is the content of a lock file.
type Lock struct {
	sets    []Set
	changed bool
}

type lockFile struct {
	Comment string `json:"comment"`
	Schema  int    `json:"schema"`
	Sets    []Set  `json:"sets"`
}

// Load reads a lock file. A missing file is empty.
func Load(path string) (*Lock, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Lock{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the lock file: %w", err)
	}
	var f lockFile
	if err := json.Unmarshal(content, &f); err != nil {
		return nil, fmt.Errorf("%s is not a lock file (%w); fix it or run `fevalgraph lock --upgrade`", path, err)
	}
	if f.Schema != schema {
		return nil, fmt.Errorf("%s has schema %d; this version reads %d (hint: run `fevalgraph lock --upgrade`)", path, f.Schema, schema)
	}
	for i := range f.Sets {
		if err := f.Sets[i].check(); err != nil {
			return nil, fmt.Errorf("%s is damaged: set %d: %w; fix it or run `fevalgraph lock --upgrade`", path, i+1, err)
		}
	}
	return &Lock{sets: f.Sets}, nil
}

// hashKey returns the key of a pin's hashes. After an edit of the version, the old hashes no longer apply.
func hashKey(pin string) string { return strings.Replace(pin, "==", " ", 1) }

// Pins returns the pinned versions for a set of requirements, each with its hashes: see
// Cut.
func (l *Lock) Pins(python, platform string, requires []string) ([]string, bool) {
	want := Set{Python: python, Platform: platform, Requires: Normalise(requires)}
	i := slices.IndexFunc(l.sets, want.same)
	if i < 0 {
		return nil, false
	}
	return l.sets[i].lines(), true
}

// lines returns the pins with their hashes.
func (s Set) lines() []string {
	lines := make([]string, len(s.Pins))
	for i, pin := range s.Pins {
		lines[i] = pin
		for _, hash := range s.Hashes[hashKey(pin)] {
			lines[i] += hashOption + hash
		}
	}
	return lines
}

func (s Set) same(other Set) bool {
	return s.Python == other.Python && s.Platform == other.Platform && slices.Equal(s.Requires, other.Requires)
}

// check returns an error for a set with unpinned versions.
func (s Set) check() error {
	switch {
	case s.Python == "" || s.Platform == "":
		return errors.New("python or platform is missing")
	case len(s.Requires) == 0 || len(s.Pins) == 0:
		return errors.New("requires or pins is empty")
	}
	for _, pin := range s.Pins {
		if err := checkPin(pin, s.Hashes[hashKey(pin)]); err != nil {
			return err
		}
	}
	return nil
}

// Put adds or replaces a set. Its pins can include hashes.
func (l *Lock) Put(s Set) {
	s.Requires = Normalise(s.Requires)
	pins := make([]string, len(s.Pins))
	for i, line := range s.Pins {
		var hashes []string
		if pins[i], hashes = Cut(line); len(hashes) > 0 {
			if s.Hashes == nil {
				s.Hashes = map[string][]string{}
			}
			slices.Sort(hashes)
			s.Hashes[hashKey(pins[i])] = hashes
		}
	}
	slices.Sort(pins)
	s.Pins = pins
	l.sets = slices.DeleteFunc(l.sets, s.same)
	l.sets = append(l.sets, s)
	l.changed = true
}

// Keep drops the sets for which keep returns false, and returns them.
func (l *Lock) Keep(keep func(Set) bool) (dropped []Set) {
	l.sets = slices.DeleteFunc(l.sets, func(s Set) bool {
		if keep(s) {
			return false
		}
		dropped = append(dropped, s)
		return true
	})
	l.changed = l.changed || len(dropped) > 0
	return dropped
}

// Preferences returns all pins known for an interpreter, so that a new set gets the versions of other sets
// where possible.
func (l *Lock) Preferences(python, platform string) []string {
	var pins []string
	for _, s := range l.sets {
		if s.Python == python && s.Platform == platform {
			pins = append(pins, s.Pins...)
		}
	}
	slices.Sort(pins)
	return slices.CompactFunc(pins, func(a, b string) bool { return packageName(a) == packageName(b) })
}

// Save writes the lock file if anything changed. It writes atomically, and the text depends only on the
// content.
func (l *Lock) Save(path string) error {
	if !l.changed {
		return nil
	}
	slices.SortFunc(l.sets, func(a, b Set) int {
		return cmp.Or(cmp.Compare(a.Python, b.Python), cmp.Compare(a.Platform, b.Platform), slices.Compare(a.Requires, b.Requires))
	})
	f := lockFile{Comment: "Pinned requirements. Made by fevalgraph; renew with `fevalgraph lock --upgrade`.", Schema: schema, Sets: l.sets}
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(f); err != nil {
		return fmt.Errorf("encoding the lock file: %w", err)
	}
	if err := atomicfile.WriteDurable(path, 0o644, content.Bytes()); err != nil {
		return fmt.Errorf("writing the lock file: %w", err)
	}
	l.changed = false
	return nil
}

// Normalise sorts requirements and removes duplicates: neither affects their meaning.
func Normalise(requires []string) []string {
	sorted := slices.Clone(requires)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// packageName returns the part before the version of a pin.
func packageName(pin string) string {
	if i := strings.IndexAny(pin, "=@ ["); i >= 0 {
		return pin[:i]
	}
	return pin
}
