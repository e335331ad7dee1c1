package docker

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

const (
	ignoreFile = ".dockerignore"
	// strayDockerfile is the path in the archive of a Dockerfile from outside the
	// context.
	strayDockerfile = ".fevalgraph.dockerfile"
)

// fileTime is the time of every file of a context. It is after 1980, the
// earliest time in zip archives.
var fileTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Context is the archive that the daemon expects as a context. Files belong to
// root, with mode 0644 or, if executable, 0755.
type Context struct {
	*io.PipeReader
	Dockerfile string // its path in the archive

	mu  sync.Mutex
	err error // of reading its content
}

// NewContext begins to create a Context, which must be closed.
func NewContext(ctx context.Context, store cache.Store, r backend.Recipe) *Context {
	reader, writer := io.Pipe()
	c := &Context{PipeReader: reader, Dockerfile: cmp.Or(r.Dockerfile, strayDockerfile)}
	go func() {
		archive := tar.NewWriter(writer)
		err := writeContext(ctx, store, r, archive)
		if err == nil {
			err = archive.Close()
		}
		if !errors.Is(err, io.ErrClosedPipe) { // the daemon, which stopped reading
			c.mu.Lock()
			c.err = err
			c.mu.Unlock()
		}
		writer.CloseWithError(err)
	}()
	return c
}

// Failure returns why the archive is incomplete.
func (c *Context) Failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// writeContext writes the files, and the Dockerfile if the context lacks it,
// because it is elsewhere or .dockerignore excludes it. After reading them,
// the daemon removes the Dockerfile and .dockerignore itself if .dockerignore
// excludes them.
func writeContext(ctx context.Context, store cache.Store, r backend.Recipe, archive *tar.Writer) error {
	hasFile, hasIgnore := false, false
	err := cache.WalkTree(ctx, store, r.Context, func(e cache.Entry) error {
		hasFile = hasFile || e.Path == r.Dockerfile
		hasIgnore = hasIgnore || e.Path == ignoreFile
		if e.Path != ignoreFile || r.Dockerfile != "" {
			return writeEntry(ctx, store, e, archive)
		}
		names, err := cache.ReadBlob(ctx, store, e.Digest, -1)
		if err != nil {
			return err
		}
		return writeFile(archive, ignoreFile, append(names, "\n"+strayDockerfile+"\n"...))
	})
	if err != nil {
		return err
	}
	names := ignoreFile + "\n"
	if !hasFile {
		name := cmp.Or(r.Dockerfile, strayDockerfile)
		if err := writeFile(archive, name, r.Text); err != nil {
			return err
		}
		names += name + "\n"
	}
	if hasIgnore {
		return nil
	}
	return writeFile(archive, ignoreFile, []byte(names))
}

func writeFile(archive *tar.Writer, name string, content []byte) error {
	if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: fileTime}); err != nil {
		return err
	}
	_, err := archive.Write(content)
	return err
}

func writeEntry(ctx context.Context, store cache.Store, e cache.Entry, archive *tar.Writer) error {
	switch {
	case e.Dir:
		return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: e.Path + "/", Mode: 0o755, ModTime: fileTime})
	case e.Link != "":
		return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: e.Path, Linkname: e.Link, Mode: 0o777, ModTime: fileTime})
	}
	header := tar.Header{Typeflag: tar.TypeReg, Name: e.Path, Mode: 0o644, Size: e.Digest.Size, ModTime: fileTime}
	if e.Executable {
		header.Mode = 0o755
	}
	if err := archive.WriteHeader(&header); err != nil {
		return err
	}
	blob, err := store.Open(ctx, e.Digest)
	if err != nil {
		return err
	}
	_, err = io.Copy(archive, blob)
	return errors.Join(err, blob.Close())
}
