// Package facts stores the answers of machines beyond their lifetime, so that a plan, or a run without
// work, does not start a machine to learn its identity. Each new machine must answer again before it gets
// work, and the caller compares.
package facts

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// Questions to machines.
const (
	Identity    = "identity"
	Bare        = "bare" // identity of commands that need no Python
	Interpreter = "interpreter"
	Platform    = "platform"
	Sandbox     = "sandbox"
	Isolation   = "isolation"
	Programs    = "programs " // followed by the words
)

// Fact is an answer.
type Fact struct {
	Identity backend.Identity `json:"identity,omitempty"`
	Path     string           `json:"path,omitempty"`
	Text     string           `json:"text,omitempty"`
}

// Source configures the storage of a backend's facts.
type Source struct {
	// Facts is the file of the machines' answers, sealed at Place.
	Facts string
	Place proof.Place
	// NotAsked is the error for a question without a stored answer, for a caller that must not start machines;
	// nil means that machines are queried.
	NotAsked error
}

// File holds facts of machines of one kind. It is safe for concurrent use.
type File struct {
	path  string
	place proof.Place

	mu    sync.Mutex
	known map[string]Fact
}

// Read reads facts from a file of a place. A missing, damaged or unproven file counts as empty, since
// machines can be queried again.
func Read(path string, place proof.Place) *File {
	f := &File{path: path, place: place, known: map[string]Fact{}}
	if json.Unmarshal(place.Read(path), &f.known) != nil || f.known == nil {
		f.known = map[string]Fact{}
	}
	return f
}

// Get returns a stored fact.
func (f *File) Get(what string) (Fact, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	answer, ok := f.known[what]
	return answer, ok
}

// All returns a copy of all facts.
func (f *File) All() map[string]Fact {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make(map[string]Fact, len(f.known))
	for what, answer := range f.known {
		all[what] = answer
	}
	return all
}

// Put stores answers.
func (f *File) Put(answers map[string]Fact) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for what, answer := range answers {
		f.known[what] = answer
	}
	text, err := json.MarshalIndent(f.known, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(f.path), 0o755)
	}
	if err == nil {
		err = f.place.Write(f.path, 0o644, append(text, '\n'))
	}
	return err
}

// Difference describes the first difference between two answers.
func Difference(what string, before, now Fact) string {
	for i := range max(len(before.Identity), len(now.Identity)) {
		was, is := fieldAt(before.Identity, i), fieldAt(now.Identity, i)
		switch {
		case was == is:
		case was.Label == is.Label:
			return fmt.Sprintf("%s was %q and is %q", is.Label, was.Value, is.Value)
		case is.Label == "":
			return fmt.Sprintf("%s was %q and is missing", was.Label, was.Value)
		default:
			return fmt.Sprintf("%s was missing and is %q", is.Label, is.Value)
		}
	}
	words := func(f Fact) string { return strings.TrimSpace(f.Path + " " + f.Text) }
	return fmt.Sprintf("%s was %q and is %q", strings.TrimSpace(what), words(before), words(now))
}

func fieldAt(all backend.Identity, i int) (f backend.Field) {
	if i < len(all) {
		f = all[i]
	}
	return f
}
