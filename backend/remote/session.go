package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/remote/parcel"
	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// session is the part of a session's state that is known here. Between commands, it occupies no machine.
type session struct {
	b        *Backend
	name     string
	id, dir  string
	readOnly []string
	isolated bool
	snapshot string // its name; "" means none

	inputs []wire.Input  // all placed inputs, in order
	state  *parcel.Index // left by the last command; nil before the first
	text   []byte        // encoded state
	verify error         // answer of the machine after the last command
	pieces map[cache.Digest][]byte
	closed bool
}

// Dir implements backend.Session.
func (s *session) Dir() string { return s.dir }

// Place implements backend.Session. The next action places the inputs; invalid inputs are found now.
func (s *session) Place(ctx context.Context, inputs ...backend.Input) error {
	if s.closed {
		return fmt.Errorf("placing inputs: session: %w", fs.ErrClosed)
	}
	for _, in := range inputs {
		if err := s.check(ctx, in); err != nil {
			return fmt.Errorf("placing input %q: %w", in.Path, err)
		}
		s.inputs = append(s.inputs, wire.Input{Input: in})
	}
	return nil
}

func (s *session) check(ctx context.Context, in backend.Input) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	clean := path.Clean(in.Path)
	if !fs.ValidPath(clean) || strings.Contains(clean, "\x00") {
		return fmt.Errorf("%w: not a path inside the workspace", fs.ErrInvalid)
	}
	if in.Tree.IsZero() {
		if clean == "." {
			return errors.New("a file cannot be the workspace")
		}
		return nil
	}
	there, err := s.b.opt.Store.Has(ctx, in.Tree)
	if err == nil && !there {
		err = &cache.MissingError{Digest: in.Tree}
	}
	return err
}

// Exec implements backend.Session.
func (s *session) Exec(ctx context.Context, cmd backend.Command) (backend.Exit, error) {
	if err := context.Cause(ctx); err != nil {
		return backend.Exit{}, err
	}
	if s.closed {
		return backend.Exit{}, fmt.Errorf("running a command: session: %w", fs.ErrClosed)
	}
	if cmd.Attach {
		return backend.Exit{}, errors.New("a command of an engine cannot be attached to a terminal")
	}
	r, err := s.step(ctx, &cmd)
	if err != nil {
		return backend.Exit{}, err
	}
	s.verify = r.Verify.Err()
	return r.Exit, s.b.print(ctx, cmd, r)
}

// step executes an action that places pending inputs and runs the command, if any.
func (s *session) step(ctx context.Context, cmd *backend.Command) (r *wire.Result, err error) {
	var base *builtSnapshot
	for range tries {
		if s.snapshot != "" {
			if base, err = s.b.current(ctx, s.snapshot, base); err != nil {
				return nil, err
			}
		}
		r, err = s.b.perform(ctx, s.stepAction(cmd, base))
		var gone *backend.PreemptedError
		if base == nil || !errors.As(err, &gone) {
			break
		}
		if lost, asked := s.b.lacks(ctx, base.Pieces); asked != nil || !lost {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if s.state, s.text, err = s.b.index(ctx, r); err != nil {
		return nil, err
	}
	for i := range s.inputs {
		s.inputs[i].Placed = true
	}
	s.pieces = map[cache.Digest][]byte{}
	if len(r.Added) > 0 {
		s.pieces[cache.SumBytes(r.Added)] = r.Added
	}
	return r, nil
}

// stepAction returns the action of a step.
func (s *session) stepAction(cmd *backend.Command, base *builtSnapshot) *actionSpec {
	w := &actionSpec{name: s.name, expects: true, blobs: reapi.Messages{}}
	task := &wire.Session{ID: s.id, Inputs: s.inputs, ReadOnly: s.readOnly, Isolated: s.isolated, Limit: s.b.opt.MaxState}
	if cmd != nil {
		w.notes, w.limit = cmd.Notes, cmd.Timeout
		exec := *cmd
		exec.Output, exec.Errors, exec.Notes = nil, nil, nil
		task.Exec, task.Apart = &exec, cmd.Errors != nil
	}
	pieces := map[cache.Digest]bool{}
	if s.state != nil {
		task.State = true
		w.entries = append(w.entries, cache.Entry{Path: wire.StateFile, Digest: addBlob(w.blobs, s.text)})
		s.carry(w, pieces, s.state.Pieces)
	}
	if base != nil {
		task.Snapshot = &base.Snapshot
		w.entries = append(w.entries, cache.Entry{Path: wire.SnapshotFile, Digest: addBlob(w.blobs, base.Text)})
		s.carry(w, pieces, base.Pieces)
	}
	for i, in := range s.inputs {
		if !in.Tree.IsZero() {
			w.entries = append(w.entries, cache.Entry{Path: wire.InputsDir + "/" + strconv.Itoa(i), Tree: in.Tree})
			w.needs = append(w.needs, cache.Output{Digest: in.Tree, Tree: true})
		}
	}
	w.task.Session = task
	return w
}

// carry adds pieces that are on the server to an action.
func (s *session) carry(w *actionSpec, there map[cache.Digest]bool, pieces []cache.Digest) {
	for _, d := range pieces {
		if !there[d] {
			there[d] = true
			w.entries = append(w.entries, cache.Entry{Path: wire.PiecesDir + "/" + d.Hex(), Digest: d})
			w.has = append(w.has, d)
		}
	}
}

// index reads the parcel that an action left.
func (b *Backend) index(ctx context.Context, r *wire.Result) (x *parcel.Index, text []byte, err error) {
	if text = r.Index; r.IndexAt != nil {
		if text, err = b.blob(ctx, *r.IndexAt); err != nil {
			return nil, nil, err
		}
	}
	x, err = parcel.Decode(text)
	return x, text, err
}

// print copies the output of a command to its writers.
func (b *Backend) print(ctx context.Context, cmd backend.Command, r *wire.Result) error {
	write := func(to io.Writer, small []byte, pieces []cache.Digest) error {
		if to == nil {
			return nil
		}
		if _, err := to.Write(small); err != nil || len(pieces) == 0 {
			return err
		}
		for _, d := range pieces {
			text, err := b.blob(ctx, d)
			if err == nil {
				_, err = to.Write(text)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if cmd.Notes != nil && len(r.Notes) > 0 {
		if _, err := cmd.Notes.Write(r.Notes); err != nil {
			return err
		}
	}
	return errors.Join(write(cmd.Output, r.Output, r.OutputPieces), write(cmd.Errors, r.Errors, r.ErrorsPieces))
}

// Collect implements backend.Session.
func (s *session) Collect(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := s.collect(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("collecting %q: %w", name, err)
	}
	return r, nil
}

func (s *session) collect(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if s.closed {
		return nil, fs.ErrClosed
	}
	if !fs.ValidPath(name) || name == "." || strings.Contains(name, "\x00") {
		return nil, fmt.Errorf("%w: not a path inside the workspace", fs.ErrInvalid)
	}
	if slices.ContainsFunc(s.inputs, func(in wire.Input) bool { return !in.Placed }) || s.state == nil {
		if _, err := s.step(ctx, nil); err != nil {
			return nil, err
		}
	}
	e, err := s.find(wire.Work + "/" + name)
	if err != nil {
		return nil, err
	}
	if e.Digest.Size == 0 {
		return io.NopCloser(bytes.NewReader(nil)), nil
	}
	return s.state.Open(e, source{ctx, s})
}

// find looks up a regular file without following symbolic links.
func (s *session) find(name string) (*parcel.Entry, error) {
	at := ""
	elements := strings.Split(name, "/")
	for i, element := range elements {
		at = path.Join(at, element)
		e := s.state.Find(at)
		switch {
		case e == nil:
			return nil, fs.ErrNotExist
		case e.Kind == parcel.Symlink && i < len(elements)-1:
			return nil, fmt.Errorf("%w: its path contains a symlink", backend.ErrNotRegular)
		case e.Kind == parcel.HardLink:
			e = s.state.Find(e.Target)
		}
		switch {
		case i == len(elements)-1 && (e == nil || e.Kind != parcel.File):
			return nil, fmt.Errorf("%w: it is a directory, a link or a special file", backend.ErrNotRegular)
		case i == len(elements)-1:
			return e, nil
		case e == nil || e.Kind != parcel.Directory:
			return nil, fs.ErrNotExist
		}
	}
	return nil, fs.ErrNotExist
}

// source reads content from pieces, which are on the server, and from inputs.
type source struct {
	ctx context.Context
	s   *session
}

// maxPieces limits the pieces that a session keeps in memory.
const maxPieces = 4

// Piece implements parcel.Source. Collected files are adjacent, so each piece is fetched once.
func (f source) Piece(d cache.Digest) (io.ReadCloser, error) {
	text, ok := f.s.pieces[d]
	if !ok {
		var err error
		if text, err = f.s.b.blob(f.ctx, d); err != nil {
			return nil, err
		}
		if len(f.s.pieces) >= maxPieces {
			f.s.pieces = map[cache.Digest][]byte{}
		}
		f.s.pieces[d] = text
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

// Content implements parcel.Source, for inputs that commands left unchanged.
func (f source) Content(d cache.Digest) (io.ReadCloser, error) {
	for _, in := range f.s.inputs {
		if in.Tree.IsZero() && cache.SumBytes(in.Content) == d {
			return io.NopCloser(bytes.NewReader(in.Content)), nil
		}
	}
	r, err := f.s.b.opt.Store.Open(f.ctx, d)
	if missing := (*cache.MissingError)(nil); !errors.As(err, &missing) {
		return r, err
	}
	text, err := f.s.b.blob(f.ctx, d)
	return io.NopCloser(bytes.NewReader(text)), err
}

// Verify implements backend.Session.
func (s *session) Verify(context.Context) error {
	if s.closed {
		return fmt.Errorf("verifying: session: %w", fs.ErrClosed)
	}
	return s.verify
}

// Close implements backend.Session. It has nothing to end.
func (s *session) Close(context.Context) error {
	s.closed, s.state, s.text, s.pieces = true, nil, nil, nil
	return nil
}
