package kind

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// Site is what backends of one project share. It is for one goroutine at a time, except
// for Backlog.
type Site struct {
	Store     cache.Store
	Registry  *backend.Registry  // nil for a site that starts no sessions
	Root      string             // directory of the configuration
	State     string             // the project's state directory
	UserState string             // the user's; "" when there is no place for it
	Scratch   string             // directory below which workspaces are made
	Run       string             // id of the run that sessions belong to
	ReadOnly  bool               // write no facts about backends
	Key       backend.SessionKey // proves what is found of earlier runs
	Place     proof.Place        // seals what backends keep in State
	// Notice tells a person what happens to machines; it is safe for concurrent use.
	Notice func(text string)
	// Leftover tells a person of a cluster that could not be ended.
	Leftover  func(err error)
	LookupEnv func(string) (string, bool)
	// Trusts reports whether the project is trusted with some of what a Kind Asks; nil
	// trusts it with everything.
	Trusts func(asks []string) bool
	// Digest is that of a file whose state the caller has just read. It may be nil.
	Digest func(path string, state fs.FileInfo) (cache.Digest, error)

	backlog graph.Backlog
	shared  map[any]any
	closers []func() error
}

// Shared returns what a site has under a key; create makes it when there is nothing
// yet. A kind chooses keys of a type of its own.
func Shared[T any](s *Site, key any, create func() (T, error)) (T, error) {
	if known, ok := s.shared[key]; ok {
		return known.(T), nil
	}
	made, err := create()
	if err != nil {
		return made, err
	}
	if s.shared == nil {
		s.shared = map[any]any{}
	}
	s.shared[key] = made
	return made, nil
}

// Backlog returns how many nodes of a pool wait for a slot at this moment, and the seconds
// that they are expected to take together; see graph.Backlog. It is safe for concurrent use,
// and 0 outside of a run.
func (s *Site) Backlog(pool string) (nodes int, seconds float64) { return s.backlog.Waiting(pool) }

// Queue is what the engine tells of a run to those that ask for its Backlog.
func (s *Site) Queue() *graph.Backlog { return &s.backlog }

// OnClose has the site call a function when it is closed: the last one first.
func (s *Site) OnClose(f func() error) { s.closers = append(s.closers, f) }

// Close ends what backends keep between sessions.
func (s *Site) Close() error {
	var errs []error
	for _, c := range slices.Backward(s.closers) {
		errs = append(errs, c())
	}
	s.closers, s.shared = nil, nil
	return errors.Join(errs...)
}

// Living reports whether a run of the project, by its id, is going on.
func (s *Site) Living(run string) (bool, error) { return backend.Living(SessionsDir(s.State), run) }

// Project returns n bytes in hexadecimal digits that tell projects apart: they are made of the state directory, which
// no two projects share.
func (s *Site) Project(n int) string {
	state := s.State
	if absolute, err := filepath.Abs(state); err == nil {
		state = absolute
	}
	sum := sha256.Sum256([]byte(state))
	return hex.EncodeToString(sum[:n])
}

// MachineFacts returns the file of facts about machines, which backends share if about is equal.
func (s *Site) MachineFacts(about ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", about))
	return filepath.Join(s.State, "machines", hex.EncodeToString(sum[:8])+".json")
}

// SessionsDir is where a project with a state has the registry of its sessions.
func SessionsDir(state string) string { return filepath.Join(state, "sessions") }
