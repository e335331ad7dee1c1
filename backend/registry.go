package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
)

// Entry describes a session in the registry, in enough detail to end and remove it without the process
// that made it.
type Entry struct {
	ID        string    `json:"id"`                  // unique; names the workspace
	Kind      string    `json:"kind"`                // backend kind: "local"
	Name      string    `json:"name,omitempty"`      // the node's address
	Workspace string    `json:"workspace,omitempty"` // absolute path to remove
	Cookie    string    `json:"cookie,omitempty"`    // value that marks the session's processes
	Host      string    `json:"host,omitempty"`      // address of the daemon that runs it
	Keep      bool      `json:"keep,omitempty"`      // end the processes, but keep the workspace
	Network   bool      `json:"network,omitempty"`   // the entry is a network at Host, not a session
	Opened    time.Time `json:"opened"`
	Proof     string    `json:"proof,omitempty"` // see SessionKey
	Run       string    `json:"-"`               // id of the run; the registry file's name
}

// Registry lists the open sessions of a run, so that no session is unknown after a crash: an entry is
// written before any part of its session exists. The file is append-only, and its owner holds a kernel
// lock on it; a process that can take the lock knows that the owner is dead.
//
// Readers skip a line torn by a crash. No session is lost: Add had not returned, so the session was not
// created. Lines are not synced to disk, because no session survives a power failure.
type Registry struct {
	mu   sync.Mutex
	path string
	lock *lockedfile.Lock
	file *os.File // nil when closed
	open map[string]struct{}
	torn bool // the last write failed and might have left a partial line

	run string
	key SessionKey
}

// line is a line of a registry file.
type line struct {
	Op string `json:"op"` // opAdd or opRemove
	Entry
}

const (
	opAdd    = "add"
	opRemove = "remove"

	registrySuffix = ".jsonl"
)

// OpenRegistry creates dir and the registry file of run in it, and locks the file until Close or the end
// of the process.
func OpenRegistry(dir, run string) (*Registry, error) {
	if run == "" || run != filepath.Base(run) || strings.HasPrefix(run, ".") {
		return nil, fmt.Errorf("opening session registry: bad run id %q", run)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("opening session registry: %w", err)
	}
	path := filepath.Join(dir, run+registrySuffix)
	// A reaper or a reader can hold the lock for a moment.
	ctx, cancel := context.WithTimeout(context.Background(), registryPatience)
	defer cancel()
	lock, err := lockedfile.Wait(ctx, path)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("opening session registry: run %s already has an owner (%s is locked)", run, path)
	}
	if err != nil {
		return nil, fmt.Errorf("opening session registry: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening session registry: %w", err), lock.Close())
	}
	return &Registry{run: run, path: path, lock: lock, file: file, open: map[string]struct{}{}}, nil
}

// registryPatience limits how long OpenRegistry waits for the lock of its file.
const registryPatience = time.Second

// Prove sets the key that proves entries added from now on.
func (r *Registry) Prove(key SessionKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.key = key
}

// Add lists a session. No part of the session may exist before Add has returned nil.
func (r *Registry) Add(e Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.ID == "" || e.Kind == "" {
		return errors.New("registering session: id or kind is missing")
	}
	if len(r.key) > 0 {
		e.Proof = r.key.Prove(r.run, e)
	}
	if err := r.write(line{Op: opAdd, Entry: e}); err != nil {
		return fmt.Errorf("registering session %s: %w", e.ID, err)
	}
	r.open[e.ID] = struct{}{}
	return nil
}

// Remove removes the entry of a session that no longer exists. It does nothing if the session is not
// listed.
func (r *Registry) Remove(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, listed := r.open[id]; !listed {
		return nil
	}
	if err := r.write(line{Op: opRemove, Entry: Entry{ID: id}}); err != nil {
		return fmt.Errorf("unregistering session %s: %w", id, err)
	}
	delete(r.open, id)
	return nil
}

// Close releases the lock. It removes the file if no session is left in it; otherwise the file stays for
// Reap.
func (r *Registry) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	release := r.lock.Close
	if len(r.open) == 0 {
		release = r.lock.Remove
	}
	if err = errors.Join(err, release()); err != nil {
		return fmt.Errorf("closing session registry: %w", err)
	}
	return nil
}

// write appends l with a single system call.
func (r *Registry) write(l line) error {
	if r.file == nil {
		return fs.ErrClosed
	}
	text, err := encodeLine(l)
	if err != nil {
		return err
	}
	if r.torn {
		text = append([]byte{'\n'}, text...)
	}
	_, err = r.file.Write(text)
	r.torn = err != nil
	return err
}

func encodeLine(l line) ([]byte, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}
