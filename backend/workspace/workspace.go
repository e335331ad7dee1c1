// Package workspace manages the directory of a session on this machine: it places inputs, collects files,
// and removes the directory whatever programs did to it. Backends whose commands work in such a directory
// share it.
//
// It neither starts nor ends programs: Collect and Remove require that no process of the session is left.
//
// A workspace looks like this:
//
//	<base>/work     the inputs; where commands start
//	<base>/home     HOME of the commands
//	<base>/tmp      TMPDIR of the commands
//	<base>/sealed   inputs that commands cannot change; see Seal
package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
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

// NewID returns a random name for a workspace.
func NewID() string { return strings.ToLower(rand.Text()[:idLength]) }

// Owner owns the files of a workspace.
type Owner struct{ UID, GID int }

// Workspace is a session's directory. It must be used by one goroutine at a time.
type Workspace struct {
	// Isolated is that of backend.Spec. Next to other sessions, the size of a workspace does not prove which
	// session filled the file system, or which ones failed because of it.
	Isolated bool

	base string
	// work contains the inputs; work, home and temp are relative to root.
	work, home, temp string
	places           []place  // inputs at other paths
	readOnly         []string // Layout.ReadOnly
	store            cache.Store
	owner            *Owner
	sealed           []string // see Seal
	root             *os.Root // base; nil after Close
	foundFull        error    // see Watch
}

// Make creates a workspace at base, which must not exist, with mode 0700. Trees come from store. A nil
// owner means the caller; any other requires permission to change owners. After an error, the caller must
// remove base.
func Make(base string, store cache.Store, owner *Owner) (*Workspace, error) {
	if err := os.Mkdir(base, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	w := &Workspace{base: base, work: workDir, home: homeDir, temp: tempDir, store: store, owner: owner, root: root}
	for _, dir := range []string{workDir, homeDir, tempDir} {
		err := root.Mkdir(dir, 0o755)
		if err == nil && owner != nil {
			err = root.Lchown(dir, owner.UID, owner.GID)
		}
		if err != nil {
			return nil, errors.Join(err, root.Close())
		}
	}
	return w, nil
}

// Base returns the absolute path of the workspace.
func (w *Workspace) Base() string { return w.base }

// Parts returns the absolute paths of the directories in which commands work.
func (w *Workspace) Parts() []string { return []string{w.Work(), w.Home(), w.Temp()} }

// Work returns the absolute path of the inputs' directory.
func (w *Workspace) Work() string { return filepath.Join(w.base, w.work) }

// Home returns the absolute path of the commands' HOME.
func (w *Workspace) Home() string { return filepath.Join(w.base, w.home) }

// Temp returns the absolute path of the commands' TMPDIR.
func (w *Workspace) Temp() string { return filepath.Join(w.base, w.temp) }

// Place implements backend.Session.Place.
func (w *Workspace) Place(ctx context.Context, inputs ...backend.Input) error {
	if w.root == nil {
		return fmt.Errorf("placing inputs: workspace: %w", fs.ErrClosed)
	}
	return w.whileUnsealed(func() error {
		for _, in := range inputs {
			if err := w.place(ctx, in); err != nil {
				return fmt.Errorf("placing input %q: %w", in.Path, err)
			}
		}
		return w.protect()
	})
}

// Collect implements backend.Session.Collect. The opened file is the examined one only if no process of
// the session runs.
func (w *Workspace) Collect(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if w.root == nil {
		return nil, fmt.Errorf("collecting %q: %w", name, fs.ErrClosed)
	}
	var f *os.File
	err := w.whileUnsealed(func() (err error) {
		f, err = w.openRegular(name)
		return err
	})
	if err != nil {
		if f != nil {
			f.Close()
		}
		return nil, fmt.Errorf("collecting %q: %w", name, err)
	}
	return f, nil
}

// Directory returns the absolute path of a directory given relative to Work. The path can contain symlinks
// that stay inside Work.
func (w *Workspace) Directory(dir string) (string, error) {
	dir, err := Relative(dir)
	if err != nil {
		return "", err
	}
	if w.root == nil {
		return "", fmt.Errorf("workspace: %w", fs.ErrClosed)
	}
	if dir == "." { // fast path for most commands
		info, err := w.root.Lstat(w.work)
		if err == nil && !info.IsDir() {
			err = errors.New("not a directory")
		}
		return w.Work(), err
	}
	work, err := w.root.OpenRoot(w.work)
	if err != nil {
		return "", err
	}
	defer work.Close()
	info, err := work.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	return filepath.Join(w.Work(), filepath.FromSlash(dir)), err
}

// Relative cleans a slash-separated path. It returns an error for a path that leads out of the workspace
// lexically.
func Relative(name string) (string, error) {
	name = path.Clean(name)
	if !fs.ValidPath(name) || strings.Contains(name, "\x00") {
		return "", fmt.Errorf("%w: not a path inside the workspace", fs.ErrInvalid)
	}
	return name, nil
}

// Close closes the directory without removing it.
func (w *Workspace) Close() error {
	if w.root == nil {
		return nil
	}
	root := w.root
	w.root = nil
	return root.Close()
}
