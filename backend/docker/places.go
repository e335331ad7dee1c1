package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/mount"

	"github.com/fevalgraph/fevalgraph/backend"
)

// shown is where commands see what is at a path of the workspace, and whether that is one
// of its places.
func (s *session) shown(name string) (at string, placed bool) {
	for _, p := range s.places {
		if name == p.Path {
			return p.At, true
		}
		if below, found := strings.CutPrefix(name, p.Path+"/"); found {
			return path.Join(p.At, below), true
		}
	}
	return path.Join(s.Dir(), name), false
}

// emptied mounts an empty volume at each place that is a directory: nothing of the image's
// may be left there. They go with the container.
func (c *copied) emptied() (mounts []mount.Mount, err error) {
	if c.s.box.id != "" || c.staging == nil {
		return nil, nil
	}
	for _, p := range c.s.places {
		_, dir, err := c.staging.Real(p.Path)
		if err != nil {
			return nil, err
		}
		if dir {
			mounts = append(mounts, mount.Mount{Type: mount.TypeVolume, Target: p.At, VolumeOptions: &mount.VolumeOptions{NoCopy: true}})
		}
	}
	return mounts, nil
}

// list reads what the daemon hands over of a directory.
func (c *copied) list(ctx context.Context, dir string, most int) ([]string, error) {
	if c.s.box.id == "" {
		if c.staging == nil {
			return nil, nil
		}
		return c.staging.List(ctx, dir, most)
	}
	at, _ := c.s.shown(dir)
	stream, stat, err := c.s.b.d.api.CopyFromContainer(ctx, c.s.box.id, at)
	if errdefs.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing %q: %w", dir, c.s.b.d.explain(err))
	}
	defer stream.Close()
	if !stat.Mode.IsDir() {
		return nil, fmt.Errorf("listing %q: %w: no directory", dir, fs.ErrInvalid)
	}
	names, err := filesIn(stream, dir, most)
	if err != nil {
		return nil, fmt.Errorf("listing %q: %w", dir, err)
	}
	return names, nil
}

// maxListed bounds the content of a directory that is listed, in bytes: the daemon sends all
// of it.
const maxListed = 1 << 30

// filesIn returns the names of the files in an archive of a directory, sorted. More than most
// entries of any kind, or maxListed bytes, are backend.ErrManyFiles.
func filesIn(archive io.Reader, dir string, most int) ([]string, error) {
	var names []string
	entries, size := 0, int64(0)
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		_, below, _ := strings.Cut(path.Clean(h.Name), "/") // after the directory's own name
		if below == "" {
			continue
		}
		if entries, size = entries+1, size+h.Size; size > maxListed {
			return nil, fmt.Errorf("%w: more than %d MiB", backend.ErrManyFiles, maxListed>>20)
		}
		if h.Typeflag == tar.TypeReg {
			names = append(names, path.Join(dir, below))
		}
		if len(names) > most || entries > 2*most {
			return nil, fmt.Errorf("%w: more than %d", backend.ErrManyFiles, most)
		}
	}
}
