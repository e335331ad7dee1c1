package eval

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/backend"
)

// sessionKey is the user's key for entries of session registries, which is made when
// there is none. It lies where no project and no shared cache is.
func (o *Options) sessionKey() (backend.SessionKey, error) {
	dir, err := o.userState()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "sessions.key")
	for range 2 { // another process may make it meanwhile
		key, err := os.ReadFile(path)
		if err == nil && len(key) == keySize {
			return key, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading the key of sessions: %w", err)
		}
		if err := makeKey(dir, path); err != nil {
			return nil, fmt.Errorf("making the key of sessions: %w", err)
		}
	}
	return nil, fmt.Errorf("the key of sessions, %s, is damaged; remove it", path)
}

const keySize = 32

// makeKey puts a key in place, whole, unless there is one.
func makeKey(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, "new-*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	key := make([]byte, keySize)
	rand.Read(key) // never fails
	_, err = file.Write(key)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// userState is the directory of what fevalgraph keeps for a user beside projects.
func (o *Options) userState() (string, error) {
	if dir, ok := o.lookupEnv("XDG_STATE_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "fevalgraph"), nil
	}
	home, err := os.UserHomeDir()
	if own, ok := o.lookupEnv("HOME"); ok && own != "" {
		home, err = own, nil
	}
	if err != nil {
		return "", fmt.Errorf("finding the user's directory of states: %w; set HOME or XDG_STATE_HOME", err)
	}
	return filepath.Join(home, ".local", "state", "fevalgraph"), nil
}
