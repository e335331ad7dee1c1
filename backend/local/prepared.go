package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// Prepared is a directory that a command of Prepare filled. Verdicts rest on its files, but other programs of the
// user can change them, and a full disk can cut them. So the state that the command left is recorded, and
// compared before the first use in a process and after each command that names the directory.
type Prepared struct {
	dir   string
	cmd   backend.Command // of Prepare
	root  fs.FileInfo     // of dir
	state *cache.Snapshot

	mu      sync.Mutex
	damaged error // why it must not be used again
}

// SealSuffix is the suffix of the file next to a prepared directory with its state. It is written last.
const SealSuffix = ".sealed"

// settling limits the time until the state of new files can be recorded: file systems can keep whole seconds.
var settling = retry.Patience{For: 10 * time.Second, Pause: 50 * time.Millisecond, Longest: 500 * time.Millisecond}

// preparedDirs contains the directories of a backend.
type preparedDirs struct {
	mu   sync.Mutex
	dirs map[string]*Prepared
}

// set replaces a directory; nil removes it.
func (d *preparedDirs) set(dir string, p *Prepared) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dirs == nil {
		d.dirs = map[string]*Prepared{}
	}
	if p == nil {
		delete(d.dirs, dir)
	} else {
		d.dirs[dir] = p
	}
}

// get returns a directory, or nil.
func (d *preparedDirs) get(dir string) *Prepared {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dirs[dir]
}

// namedBy returns the directories that a command's arguments or environment name.
func (d *preparedDirs) namedBy(c backend.Command) (named []*Prepared) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for dir, p := range d.dirs {
		for _, word := range append(c.Argv[:len(c.Argv):len(c.Argv)], c.Env...) {
			if strings.Contains(word, dir) {
				named = append(named, p)
				break
			}
		}
	}
	return named
}

// prepareDir runs the command of a directory, unless the directory is intact. A changed one is removed, even if
// commands use it: they fail.
func (b *Backend) prepareDir(ctx context.Context, cmd backend.Command) (exit backend.Exit, err error) {
	dir := filepath.Clean(cmd.Prepares)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return exit, err
	}
	lock, err := lockedfile.Wait(ctx, dir+".lock")
	if err != nil {
		return exit, err
	}
	defer lock.Close()
	p := OpenPrepared(dir)
	if p == nil {
		b.prepared.set(dir, nil) // its own command does not use it
		if err := discard(dir); err != nil {
			return exit, fmt.Errorf("removing a changed directory: %w", err)
		}
		exit, err = backend.PrepareShared(ctx, unisolatedBackend{b}, cmd)
		if err != nil || !exit.Succeeded() {
			return exit, err
		}
		if p, err = RecordPrepared(ctx, dir, b.opt.Digest); err != nil {
			return exit, fmt.Errorf("recording the state of %s: %w", dir, err)
		}
	}
	p.cmd = cmd
	p.cmd.Output, p.cmd.Errors, p.cmd.Notes = nil, nil, nil
	b.prepared.set(dir, p)
	return exit, nil
}

// discard removes a directory. It is moved first, so that no command finds a part of it.
func discard(dir string) error {
	gone := dir + "." + workspace.NewID()
	if err := os.Rename(dir, gone); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return workspace.Remove(gone)
}

// OpenPrepared returns a directory in its recorded state, or nil if it has none or was changed.
func OpenPrepared(dir string) *Prepared {
	state, err := cache.DecodeSnapshot(proof.Place{}.Read(dir + SealSuffix))
	if err != nil {
		return nil
	}
	root, err := os.Lstat(dir)
	if err != nil {
		return nil
	}
	p := &Prepared{dir: dir, root: root, state: state}
	if p.Verify() != nil {
		return nil
	}
	return p
}

// digest returns the digest of a file whose state the caller just read.
type digest = func(path string, state fs.FileInfo) (cache.Digest, error)

// RecordPrepared records the state of a directory in a file next to it. A nil sum reads all files.
func RecordPrepared(ctx context.Context, dir string, sum digest) (*Prepared, error) {
	if sum == nil {
		sum = readDigest
	}
	root, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	p := &Prepared{dir: dir, root: root}
	unsettled := func(err error) bool { return errors.As(err, new(*cache.UnsettledError)) }
	err = settling.Do(ctx, unsettled, func() error {
		seen, err := sightAll(dir, sum)
		if err == nil {
			p.state, err = cache.TakeSnapshot(seen)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, proof.Place{}.Write(dir+SealSuffix, 0o444, p.state.Encode())
}

// sightAll takes the state of every path below a directory. Interpreters can add files to __pycache__.
func sightAll(dir string, sum digest) (all []cache.Sighting, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		began := time.Now()
		switch entry.Type() {
		case 0:
			info, err := os.Lstat(path)
			if err != nil {
				return err
			}
			content, err := sum(path, info)
			if err != nil {
				return err
			}
			all = append(all, cache.SightFile(path, info, began, content))
		case fs.ModeDir:
			cached := entry.Name() == "__pycache__"
			all = append(all, cache.Probe{Path: path, Listing: !cached, Exists: cached}.Sight())
		default:
			all = append(all, cache.Probe{Path: path}.Sight())
		}
		return nil
	})
	return all, err
}

// Verify returns an error if the directory was replaced or changed: what commands did with it does not count.
func (p *Prepared) Verify() error {
	if err := p.known(); err != nil {
		return err
	}
	var found error
	if root, err := os.Lstat(p.dir); err != nil || !os.SameFile(root, p.root) {
		found = errors.New("it was removed or replaced")
	} else if changed := p.state.Changed(); changed != "" {
		found = fmt.Errorf("%s was changed", changed)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.damaged == nil && found != nil {
		p.damaged = &backend.ToolError{Tool: p.dir, Err: fmt.Errorf("its files are not the prepared ones: %w", found), Hint: "it is prepared again"}
	}
	return p.damaged
}

// known returns the result of an earlier Verify.
func (p *Prepared) known() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.damaged
}

// usePrepared returns the prepared directories that a command names. A damaged directory is prepared
// again.
func (b *Backend) usePrepared(ctx context.Context, c backend.Command) (named []*Prepared, err error) {
	for _, p := range b.prepared.namedBy(c) {
		if p.known() != nil {
			exit, err := b.prepareDir(ctx, p.cmd)
			if err == nil && !exit.Succeeded() {
				err = fmt.Errorf("its command ended with status %d", exit.Code)
			}
			if err != nil {
				return nil, fmt.Errorf("preparing %s again: %w", p.dir, err)
			}
			p = b.prepared.get(p.dir)
		}
		if p != nil {
			named = append(named, p)
		}
	}
	return named, nil
}

// verifyAll returns an error if a directory was changed before the end of a command that used it.
func verifyAll(used []*Prepared) error {
	for _, p := range used {
		if err := p.Verify(); err != nil {
			return err
		}
	}
	return nil
}
