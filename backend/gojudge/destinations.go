package gojudge

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// uploads is the destination for files of a running server.
type uploads struct{ c *client }

func (u uploads) put(ctx context.Context, content io.Reader) (string, error) {
	return u.c.upload(ctx, content)
}

// dropPatience limits the duration of removing one file.
const dropPatience = 10 * time.Second

func (u uploads) drop(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), dropPatience)
	defer cancel()
	_ = u.c.remove(ctx, name) // its -file-timeout removes remaining files
}

func (u uploads) file(name string) wireFile { return wireFile{FileID: name} }

// mirror is a directory that a server of this run reads from.
type mirror struct {
	dir string
	// disown changes the owner of files to a user that exists in no sandbox, so that programs can only read
	// the files that they get as standard input.
	disown bool
}

// unmappedUser owns the files of a mirror. In a sandbox only root is mapped.
const unmappedUser = 65534

func (m mirror) put(ctx context.Context, content io.Reader) (string, error) {
	path := filepath.Join(m.dir, rand.Text())
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = m.seal(path)
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		os.Remove(path)
		return "", err
	}
	return path, nil
}

// seal makes a file read-only for programs.
func (m mirror) seal(path string) error {
	if err := os.Chmod(path, 0o444); err != nil || !m.disown {
		return err
	}
	return os.Chown(path, unmappedUser, unmappedUser)
}

// moveIn moves a file of the same file system into the mirror.
func (m mirror) moveIn(from string) (string, error) {
	path := filepath.Join(m.dir, rand.Text())
	if err := m.seal(from); err != nil {
		return "", err
	}
	return path, os.Rename(from, path)
}

func (m mirror) drop(name string) { os.Remove(name) }

func (m mirror) file(name string) wireFile { return wireFile{Src: name} }
