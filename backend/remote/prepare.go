package remote

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/cache"
)

// snapshot is a directory that a command prepared and that is stored on the server. It is
// prepared again if the server loses it.
type snapshot struct {
	name string
	cmd  backend.Command // without writers

	mu   sync.Mutex // held by the caller that prepares it
	made *builtSnapshot
}

// builtSnapshot is a prepared snapshot.
type builtSnapshot struct {
	Snapshot wire.Snapshot
	Text     []byte // encoded index
	Pieces   []cache.Digest
}

// Prepare implements backend.Backend. A snapshot of an earlier run is used as long as the
// server has it.
func (b *Backend) Prepare(ctx context.Context, name string, cmd backend.Command) (id string, exit backend.Exit, err error) {
	if err := b.begin(ctx); err != nil {
		return "", backend.Exit{}, err
	}
	plain := cmd
	plain.Output, plain.Errors, plain.Notes, plain.Online = nil, nil, nil, true
	known := []any{name}
	for _, what := range []string{wire.Place, facts.Platform, facts.Interpreter} {
		f, _ := b.facts.Get(what) // a part that was never requested does not count
		known = append(known, f)
	}
	sum := sha256.Sum256(wire.Encode(known))
	id = hex.EncodeToString(sum[:8])
	b.mu.Lock()
	s := b.snapshots[id]
	if s == nil {
		s = &snapshot{name: id, cmd: plain}
		b.snapshots[id] = s
	}
	b.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == nil {
		s.made = b.recall(id)
	}
	if s.made != nil {
		if missing, err := b.lacks(ctx, s.made.Pieces); err != nil || !missing {
			return id, backend.Exit{}, err
		}
	}
	s.made, exit, err = b.prepare(ctx, id, cmd)
	if err != nil || s.made == nil {
		return "", exit, err
	}
	return id, exit, nil
}

// prepare runs a command that prepares a snapshot. The snapshot is nil if the command did
// not exit with 0.
func (b *Backend) prepare(ctx context.Context, name string, cmd backend.Command) (*builtSnapshot, backend.Exit, error) {
	id := strings.ToLower(rand.Text()[:idLength])
	exec := cmd
	exec.Output, exec.Errors, exec.Notes, exec.Online = nil, nil, nil, true
	r, err := b.perform(ctx, &actionSpec{name: "prepare", notes: cmd.Notes, expects: true, limit: cmd.Timeout,
		task: wire.Task{Session: &wire.Session{ID: id, Prepare: id, Exec: &exec}}})
	if err == nil {
		err = b.print(ctx, cmd, r)
	}
	if err != nil {
		return nil, backend.Exit{}, err
	}
	if !r.Exit.Succeeded() {
		return nil, r.Exit, nil
	}
	index, text, err := b.index(ctx, r)
	if err != nil {
		return nil, r.Exit, err
	}
	m := &builtSnapshot{Snapshot: wire.Snapshot{ID: id, Index: cache.SumBytes(text)}, Text: text, Pieces: index.Pieces}
	return m, r.Exit, b.remember(name, m)
}

// lacks reports whether the server lacks any of some blobs.
func (b *Backend) lacks(ctx context.Context, blobs []cache.Digest) (bool, error) {
	missing, err := b.opt.Client.Missing(ctx, blobs)
	return len(missing) > 0, err
}

// current returns the current version of a snapshot. If that is still lost, which the
// server has lost, it is prepared again.
func (b *Backend) current(ctx context.Context, id string, lost *builtSnapshot) (*builtSnapshot, error) {
	b.mu.Lock()
	s := b.snapshots[id]
	b.mu.Unlock()
	if s == nil {
		return nil, fmt.Errorf("no snapshot %q", id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made != nil && s.made != lost {
		return s.made, nil
	}
	m, exit, err := b.prepare(ctx, s.name, s.cmd)
	if err == nil && m == nil {
		err = fmt.Errorf("preparing lost content again: the command ended with %+v", exit)
	}
	if err == nil {
		s.made = m
	}
	return m, err
}

// snapshotFile returns the path of the file about a snapshot.
func (b *Backend) snapshotFile(name string) string {
	return filepath.Join(strings.TrimSuffix(b.opt.Facts, ".json")+"-prepared", name)
}

func (b *Backend) remember(name string, m *builtSnapshot) error {
	path := b.snapshotFile(name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = b.opt.Place.Write(path, 0o644, wire.Encode(m))
	}
	return err
}

// recall returns the snapshot of an earlier run, or nil.
func (b *Backend) recall(name string) *builtSnapshot {
	m := &builtSnapshot{}
	if json.Unmarshal(b.opt.Place.Read(b.snapshotFile(name)), m) != nil {
		return nil
	}
	return m
}
