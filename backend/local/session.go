//go:build unix

package local

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
)

// session implements backend.Session.
type session struct {
	b        *Backend
	id       string
	base     string // <scratch>/<id>
	dir      string // the workspace directory as commands see it
	made     bool   // base was created by this session
	mark     mark   // of the session's processes
	level    isolation.Level
	readOnly []isolation.Place
	places   []backend.Place

	work    *workspace.Workspace // nil before creation and after Close
	counts  kernelCounts         // before the first command
	crowded error                // when a command ended
	ran     bool                 // a command ran
	dirty   bool                 // processes may remain
	since   since                // no process of the session began earlier
	closed  bool                 // everything was removed
}

var _ backend.Session = (*session)(nil)

// open opens a session at an isolation level.
func (b *Backend) open(ctx context.Context, spec backend.Spec, level isolation.Level) (backend.Session, error) {
	scratch, err := b.scratch.FindSuitable()
	if err != nil {
		return nil, fmt.Errorf("opening session: %w", err)
	}
	id := cmp.Or(b.opt.Session, workspace.NewID())
	s := &session{
		b: b, id: id, base: filepath.Join(scratch, id),
		mark: newMark(strings.ToLower(rand.Text())), counts: countsBefore(), level: level, places: spec.Places,
	}
	if err := s.make(ctx, spec); err != nil {
		return nil, errors.Join(fmt.Errorf("opening session: %w", err), s.Close(ctx))
	}
	return s, nil
}

func (s *session) make(ctx context.Context, spec backend.Spec) error {
	if r := s.b.opt.Registry; r != nil {
		err := r.Add(backend.Entry{
			ID: s.id, Kind: Kind, Name: spec.Name, Workspace: s.base,
			Cookie: s.mark.cookie, Opened: time.Now().UTC(),
		})
		if err != nil {
			return err
		}
	}
	work, err := workspace.Make(s.base, s.b.store, nil)
	// An existing directory belongs to someone else and must not be removed.
	s.work, s.made = work, err == nil || !errors.Is(err, fs.ErrExist)
	if err != nil {
		return err
	}
	s.dir, work.Isolated = work.Work(), spec.Isolated
	for _, name := range spec.ReadOnly {
		place := filepath.Join(s.dir, filepath.FromSlash(name))
		s.readOnly = append(s.readOnly, isolation.Place{Source: place, Target: place})
	}
	return s.Place(ctx, spec.Inputs...)
}

// Place implements backend.Session.
func (s *session) Place(ctx context.Context, inputs ...backend.Input) error {
	if s.work == nil {
		return fmt.Errorf("placing inputs: session: %w", fs.ErrClosed)
	}
	return s.work.Place(ctx, inputs...)
}

// Dir implements backend.Session.
func (s *session) Dir() string { return s.dir }

// Collect implements backend.Session. No process of the session runs between
// two Execs, as workspace.Collect requires.
func (s *session) Collect(ctx context.Context, path string) (io.ReadCloser, error) {
	if s.work == nil {
		return nil, fmt.Errorf("collecting %q: session: %w", path, fs.ErrClosed)
	}
	return s.work.Collect(ctx, path)
}

// List implements backend.Lister.
func (s *session) List(ctx context.Context, dir string, most int) ([]string, error) {
	if s.work == nil {
		return nil, fmt.Errorf("listing %q: session: %w", dir, fs.ErrClosed)
	}
	return s.work.List(ctx, dir, most)
}

// Verify implements backend.Session.
func (s *session) Verify(context.Context) error {
	if s.work == nil {
		return fmt.Errorf("verifying: session: %w", fs.ErrClosed)
	}
	if s.b.inside != nil {
		return backend.Spoiled(cmp.Or(s.work.Verify(), s.b.inside.userLimits()))
	}
	if !s.ran && s.level == isolation.Full {
		s.crowded = isolation.Crowded(s.b.isolator, isolation.View{Writable: s.work.Parts(), Temp: s.work.Temp()})
	}
	return backend.Spoiled(cmp.Or(s.work.Verify(), s.counts.verify(), s.crowded))
}

// Close implements backend.Session. It can be called again after a failure.
func (s *session) Close(ctx context.Context) error {
	if s.closed {
		return nil
	}
	if err := s.end(); err != nil {
		return fmt.Errorf("closing session: %w", err)
	}
	if s.work != nil {
		s.work.Close()
		s.work = nil
	}
	if s.made {
		if err := workspace.Remove(s.base); err != nil {
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
