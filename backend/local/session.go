package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
)

// The parts of a workspace.
const (
	workDir = "work"
	homeDir = "home"
	tempDir = "tmp"
)

// idLength keeps paths below a workspace short enough for Unix sockets (107
// bytes); ten base32 digits are 50 bits.
const idLength = 10

// session implements backend.Session.
type session struct {
	b    *Backend
	id   string
	base string // <scratch>/<id>
	made bool   // base is ours
	keep bool
	mark mark // of the session's processes

	root   *os.Root // base; nil before it is made and after Close
	dirty  bool     // processes may be left
	closed bool     // nothing is left
}

var _ backend.Session = (*session)(nil)

// Open implements backend.Backend.
func (b *Backend) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	scratch, err := scratchDir(b.opt.Scratch)
	if err != nil {
		return nil, fmt.Errorf("opening session: %w", err)
	}
	id := strings.ToLower(rand.Text()[:idLength])
	s := &session{
		b: b, id: id, base: filepath.Join(scratch, id), keep: spec.Keep,
		mark: newMark(strings.ToLower(rand.Text())),
	}
	if err := s.make(ctx, spec); err != nil {
		s.keep = false
		return nil, errors.Join(fmt.Errorf("opening session: %w", err), s.Close(ctx))
	}
	return s, nil
}

// scratchDir makes the directory and returns its real path, so that programs
// that resolve symlinks and those that do not name the same files.
func scratchDir(dir string) (string, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

func (s *session) make(ctx context.Context, spec backend.Spec) error {
	if r := s.b.opt.Registry; r != nil {
		err := r.Add(backend.Entry{
			ID: s.id, Kind: Kind, Name: spec.Name, Workspace: s.base,
			Cookie: s.mark.cookie, Keep: spec.Keep, Opened: time.Now().UTC(),
		})
		if err != nil {
			return err
		}
	}
	if err := os.Mkdir(s.base, 0o700); err != nil {
		return err
	}
	s.made = true
	root, err := os.OpenRoot(s.base)
	if err != nil {
		return err
	}
	s.root = root
	for _, dir := range []string{workDir, homeDir, tempDir} {
		if err := root.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	return s.Place(ctx, spec.Inputs...)
}

// Place implements backend.Session.
func (s *session) Place(ctx context.Context, inputs ...backend.Input) error {
	if s.root == nil {
		return fmt.Errorf("placing inputs: session: %w", fs.ErrClosed)
	}
	for _, in := range inputs {
		if err := s.place(ctx, in); err != nil {
			return fmt.Errorf("placing input %q: %w", in.Path, err)
		}
	}
	return nil
}

// Dir implements backend.Session.
func (s *session) Dir() string { return filepath.Join(s.base, workDir) }

// Collect implements backend.Session. No process of the session runs between
// two Execs, so what was looked at is what is opened.
func (s *session) Collect(ctx context.Context, path string) (io.ReadCloser, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if s.root == nil {
		return nil, fmt.Errorf("collecting %q: %w", path, fs.ErrClosed)
	}
	f, err := openRegular(s.root, path)
	if err != nil {
		return nil, fmt.Errorf("collecting %q: %w", path, err)
	}
	return f, nil
}

// Close implements backend.Session. After a failure it may be called again.
func (s *session) Close(ctx context.Context) error {
	if s.closed {
		return nil
	}
	if err := s.end(); err != nil {
		return fmt.Errorf("closing session: %w", err)
	}
	if s.root != nil {
		s.root.Close()
		s.root = nil
	}
	if s.made && !s.keep {
		if err := removeAll(s.base); err != nil {
			return fmt.Errorf("closing session: %w", err)
		}
	}
	if r := s.b.opt.Registry; r != nil {
		if err := r.Remove(s.id); err != nil {
			return fmt.Errorf("closing session: %w", err)
		}
	}
	s.closed = true
	return nil
}
