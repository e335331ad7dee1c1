package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/docker/docker/api/types/container"
)

// handOver copies PreparedPath from one container, where it belongs to the commands' user,
// to another, where it belongs to the preparer. Neither container runs.
func (d *Daemon) handOver(ctx context.Context, from, to string) error {
	content, _, err := d.api.CopyFromContainer(ctx, from, PreparedPath)
	if err != nil {
		return fmt.Errorf("copying the prepared files: %w", d.explain(err))
	}
	defer content.Close()
	r, w := io.Pipe()
	go func() { w.CloseWithError(archivePrepared(w, content)) }()
	defer r.Close()
	if err := d.api.CopyToContainer(ctx, to, "/", r, container.CopyToContainerOptions{}); err != nil {
		return fmt.Errorf("copying the prepared files: %w", d.explain(err))
	}
	return nil
}

// archivePrepared writes an archive of PreparedPath. All its files belong to the preparer, and are
// readable but not writable.
func archivePrepared(to io.Writer, from io.Reader) error {
	parent := strings.TrimPrefix(path.Dir(PreparedPath), "/")
	out, in := tar.NewWriter(to), tar.NewReader(from)
	// The owner of the directory could move its content away.
	if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: parent + "/", Mode: 0o755, Uid: preparer, Gid: preparer}); err != nil {
		return err
	}
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out.Close()
		}
		if err != nil {
			return err
		}
		h.Name = path.Join(parent, h.Name)
		h.Uid, h.Gid, h.Uname, h.Gname = preparer, preparer, "", ""
		h.Mode = h.Mode&0o755 | 0o444
		if h.Typeflag == tar.TypeDir || h.Mode&0o100 != 0 {
			h.Mode |= 0o111
		}
		switch h.Typeflag {
		case tar.TypeDir:
			h.Name += "/"
		case tar.TypeLink:
			h.Linkname = path.Join(parent, h.Linkname)
		}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.Copy(out, in); err != nil {
			return err
		}
	}
}
