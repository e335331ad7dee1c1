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

// Site is the shared environment of a project's backends. It must be used by one goroutine at a time, except
// for Backlog.
type Site struct {
	Store     cache.Store
	Registry  *backend.Registry  // nil if the site starts no sessions
	Root      string             // directory of the configuration
	State     string             // the project's state directory
	UserState string             // the user's state directory; "" if it is missing
	Scratch   string             // directory below which workspaces are made
	Run       string             // run id of sessions
	ReadOnly  bool               // do not write facts about backends
	Key       backend.SessionKey // authenticates data of earlier runs
	Place     proof.Place        // seals files of backends in State
	// Notice reports changes of machines to the user. It is safe for concurrent use.
	Notice func(text string)
	// Leftover reports a cluster that could not be ended to the user.
	Leftover  func(err error)
	LookupEnv func(string) (string, bool)
	// Trusts reports whether the project is trusted with some of a Kind's Asks; nil trusts it with everything.
	Trusts func(asks []string) bool
	// Digest returns the digest of a file whose state the caller just read. It can be nil.
	Digest func(path string, state fs.FileInfo) (cache.Digest, error)

	backlog graph.Backlog
	shared  map[any]any
	closers []func() error
}

// Shared returns the value under a key; create makes it on first use. A kind must use a key type of its
// package.
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

// Backlog returns how many nodes of a pool wait for a slot, and their expected total seconds; see
// graph.Backlog. It is safe for concurrent use, and returns 0 outside of a run.
func (s *Site) Backlog(pool string) (nodes int, seconds float64) { return s.backlog.Waiting(pool) }

// Queue returns the backlog that the engine updates.
func (s *Site) Queue() *graph.Backlog { return &s.backlog }

// OnClose registers a function to call when the site is closed, in reverse order.
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

// Living reports whether a run of the project is running.
func (s *Site) Living(run string) (bool, error) { return backend.Living(SessionsDir(s.State), run) }

// Project returns n hexadecimal bytes that identify the project. They are derived from the state directory,
// which no two projects share.
func (s *Site) Project(n int) string {
	state := s.State
	if absolute, err := filepath.Abs(state); err == nil {
		state = absolute
	}
	sum := sha256.Sum256([]byte(state))
	return hex.EncodeToString(sum[:n])
}

// MachineFacts returns the file of facts about machines. Backends with equal about share it.
func (s *Site) MachineFacts(about ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", about))
	return filepath.Join(s.State, "machines", hex.EncodeToString(sum[:8])+".json")
}

// SessionsDir returns the directory of the session registry in a state directory.
func SessionsDir(state string) string { return filepath.Join(state, "sessions") }
