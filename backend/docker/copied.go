package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
)

// copied delivers by copying into the container's own file system. What is
// placed gathers in a workspace here until a command needs it.
type copied struct {
	s       *session
	base    string
	staging *workspace.Workspace // nil when nothing waits
	waiting []backend.Input      // that are in staging
	seeded  bool                 // the container has its directories
}

func (c *copied) place(ctx context.Context, inputs ...backend.Input) error {
	if c.staging == nil {
		work, err := workspace.Make(c.base, c.s.b.store, nil)
		if err != nil {
			return err
		}
		c.staging = work
	}
	c.waiting = append(c.waiting, inputs...)
	return c.staging.Place(ctx, inputs...)
}

func (c *copied) deliver(ctx context.Context, on string) error {
	mounts, err := c.emptied()
	if err == nil {
		err = c.s.prepare(ctx, on, mounts)
	}
	if err != nil {
		return err
	}
	if c.staging == nil && c.seeded {
		return nil
	}
	if c.seeded {
		if err := c.makeRoom(ctx); err != nil {
			return err
		}
	}
	if err := c.upload(ctx); err != nil {
		return fmt.Errorf("copying files into the container: %w", err)
	}
	c.seeded, c.waiting = true, nil
	c.let()
	return workspace.Remove(c.base)
}

// upload sends everything that waits. The daemon unpacks it in the container,
// below its root.
func (c *copied) upload(ctx context.Context) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(c.pack(w)) }()
	defer r.Close()
	err := c.s.b.d.api.CopyToContainer(ctx, c.s.box.id, "/", r, container.CopyToContainerOptions{AllowOverwriteDirWithFile: true})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return c.s.b.d.explain(err)
}

// pack writes the archive: everything belongs to the commands' user.
func (c *copied) pack(w io.Writer) error {
	archive := tar.NewWriter(w)
	uid, gid := c.s.facts.uid, c.s.facts.gid
	directory := func(name string, uid, gid int) error {
		return archive.WriteHeader(&tar.Header{
			Typeflag: tar.TypeDir, Name: strings.TrimPrefix(name, "/") + "/", Mode: 0o755, Uid: uid, Gid: gid,
		})
	}
	if !c.seeded {
		err := errors.Join(
			directory(path.Dir(homePath), preparer, preparer), directory(homePath, uid, gid), directory(tempPath, uid, gid),
			directory(c.s.Dir(), uid, gid))
		if err != nil {
			return err
		}
	}
	if c.staging != nil {
		top := c.staging.Work()
		err := filepath.WalkDir(top, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || name == top {
				return err
			}
			inside, err := filepath.Rel(top, name)
			if err != nil {
				return err
			}
			target, placed := c.s.shown(filepath.ToSlash(inside))
			if len(c.s.places) > 0 && !placed {
				return nil
			}
			return packFile(archive, name, target, uid, gid, entry)
		})
		if err != nil {
			return err
		}
	}
	return archive.Close()
}

func packFile(archive *tar.Writer, source, target string, uid, gid int, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = os.Readlink(source); err != nil {
			return err
		}
	}
	header, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	header.Name, header.Uid, header.Gid, header.Uname, header.Gname = strings.TrimPrefix(target, "/"), uid, gid, "", ""
	if info.IsDir() {
		header.Name += "/"
	}
	if err := archive.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(source)
	if err != nil {
		return err
	}
	_, err = io.Copy(archive, f)
	return errors.Join(err, f.Close())
}

// collect asks the daemon for the file, after it has looked at every
// directory on the way: the daemon would follow symlinks.
func (c *copied) collect(ctx context.Context, name string) (io.ReadCloser, error) {
	file, err := c.open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("collecting %q: %w", name, err)
	}
	return file, nil
}

func (c *copied) open(ctx context.Context, name string) (io.ReadCloser, error) {
	if c.s.box.id == "" {
		if c.staging == nil {
			return nil, fs.ErrNotExist
		}
		return c.staging.Collect(ctx, name)
	}
	if c.staging != nil {
		if err := c.deliver(ctx, c.s.box.network); err != nil {
			return nil, err
		}
	}
	clean, err := workspace.Relative(name)
	if err != nil || clean != name || name == "." {
		return nil, fmt.Errorf("%w: not a path inside the workspace", fs.ErrInvalid)
	}
	at := c.s.Dir()
	elements := strings.Split(name, "/")
	if shown, placed := c.s.shown(name); placed {
		at, elements = "/", strings.Split(shown[1:], "/")
	}
	for i, element := range elements {
		at = path.Join(at, element)
		if err := c.s.box.expect(ctx, at, i == len(elements)-1); err != nil {
			return nil, err
		}
	}
	return c.s.box.download(ctx, at)
}

func (c *copied) let() {
	if c.staging != nil {
		c.staging.Close()
		c.staging = nil
	}
}

// verify finds nothing out: the files are the daemon's.
func (c *copied) verify() error { return nil }
