package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// PlaceTree copies the tree to the directory name in at: files with mode 0644 or 0755,
// directories with 0755, symlinks unchanged. It creates the directory if necessary, but not its
// parents, which must not be symlinks; it replaces a symlink at name.
//
// Existing entries stay unless the tree has the same path; then the tree wins: symlinks and files
// are removed, never written through, and a file replaces a directory with its content. Paths
// outside are not touched. Files are copies, never links to the store, so programs that change
// them cannot reach the store. After an error, the directory contains part of the tree, but no
// file with wrong content.
func PlaceTree(ctx context.Context, s Store, root Digest, at *os.Root, name string) error {
	p := &placer{ctx: ctx, store: s}
	err := p.makeDirectory(at, name)
	if err == nil {
		err = p.below(at, name, root)
	}
	if err != nil {
		return fmt.Errorf("placing tree %s in %s: %w", root, name, err)
	}
	return nil
}

// PlaceFile copies a blob to the file name in at, with mode 0644, as PlaceTree does.
func PlaceFile(ctx context.Context, s Store, g Digest, at *os.Root, name string) error {
	return (&placer{ctx: ctx, store: s}).file(fileNode{name: name, digest: g}, at)
}

type placer struct {
	ctx   context.Context
	store Store
}

// directory fills the directory at. It works relative to an open directory, so
// that symlinks that appear meanwhile have no effect.
func (p *placer) directory(g Digest, at *os.Root) error {
	d, err := readDirectory(p.ctx, p.store, g)
	if err != nil {
		return err
	}
	if err := at.Chmod(".", 0o755); err != nil {
		return err
	}
	return d.eachName(func(i int, kind nameKind) error {
		switch kind {
		case fileName:
			return p.file(d.files[i], at)
		case linkName:
			if err := vacate(at, d.links[i].name); err != nil {
				return err
			}
			return at.Symlink(d.links[i].target, d.links[i].name)
		}
		return p.subdirectory(d.dirs[i], at)
	})
}

func (p *placer) subdirectory(n dirNode, at *os.Root) error {
	if err := p.makeDirectory(at, n.name); err != nil {
		return err
	}
	return p.below(at, n.name, n.digest)
}

// makeDirectory makes name a directory.
func (p *placer) makeDirectory(at *os.Root, name string) error {
	if fi, err := at.Lstat(name); err == nil && fi.IsDir() {
		return nil
	}
	if err := vacate(at, name); err != nil {
		return err
	}
	return at.Mkdir(name, 0o755)
}

func (p *placer) below(at *os.Root, name string, g Digest) error {
	sub, err := at.OpenRoot(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	return p.directory(g, sub)
}

func (p *placer) file(n fileNode, at *os.Root) error {
	if err := vacate(at, n.name); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if n.executable {
		mode = 0o755
		// A process that is being started has a copy of each open file for a moment, and a file that is
		// open for writing cannot be executed. The content is fetched before other starts have to wait.
		if r, err := p.store.Open(p.ctx, n.digest); err == nil {
			r.Close()
		}
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
	}
	f, err := at.OpenFile(n.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = p.fill(f, n.digest)
	if err == nil {
		err = f.Chmod(mode) // regardless of the umask
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return errors.Join(fmt.Errorf("file %s: %w", n.name, err), at.Remove(n.name))
	}
	return nil
}

// fill writes a blob to a new file.
func (p *placer) fill(f *os.File, g Digest) error {
	if c, ok := p.store.(copier); ok && g.Size >= copySize {
		return c.copyBlob(p.ctx, f, g)
	}
	r, err := p.store.Open(p.ctx, g)
	if err != nil {
		return err
	}
	defer r.Close()
	buffer := smallBlobs.Get().(*[smallBlob]byte)
	defer smallBlobs.Put(buffer)
	_, err = io.CopyBuffer(struct{ io.Writer }{f}, contextReader{p.ctx, r}, buffer[:])
	return err
}

// vacate removes the file or directory at name.
func vacate(at *os.Root, name string) error {
	fi, err := at.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return at.Remove(name)
	}
	return at.RemoveAll(name)
}
