package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/containerd/errdefs"

	"github.com/fevalgraph/fevalgraph/backend"
)

// expect looks at a path in the container: the last one of a way must be a
// regular file, those before it directories.
func (b *box) expect(ctx context.Context, at string, last bool) error {
	look, cancel := b.d.ask(ctx)
	defer cancel()
	stat, err := b.d.api.ContainerStatPath(look, b.id, at)
	switch {
	case errdefs.IsNotFound(err):
		return fs.ErrNotExist
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("looking at %s in the container: %w", at, b.d.explain(err))
	case last && stat.Mode.IsRegular(), !last && stat.Mode.IsDir():
		return nil
	case !last && stat.Mode&fs.ModeSymlink != 0:
		return fmt.Errorf("%w: it lies behind a symlink", backend.ErrNotRegular)
	case !last:
		return fs.ErrNotExist
	}
	return fmt.Errorf("%w: it is %v", backend.ErrNotRegular, stat.Mode.Type())
}

// download opens a regular file in the container.
func (b *box) download(ctx context.Context, at string) (io.ReadCloser, error) {
	stream, _, err := b.d.api.CopyFromContainer(ctx, b.id, at)
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, fmt.Errorf("copying %s out of the container: %w", at, b.d.explain(err))
	}
	archive := tar.NewReader(stream)
	header, err := archive.Next()
	if err == nil && header.Typeflag != tar.TypeReg {
		err = backend.ErrNotRegular
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copying %s out of the container: %w", at, b.d.explain(err)), stream.Close())
	}
	return &download{Reader: archive, stream: stream}, nil
}

// download is one file of an archive.
type download struct {
	io.Reader
	stream io.Closer
}

func (d *download) Close() error { return d.stream.Close() }
