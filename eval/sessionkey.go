package eval

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// sessionKey is the user's key for entries of session registries.
func (o *Options) sessionKey() (backend.SessionKey, error) { return o.userKey(true) }

// recordKey is what signs records. A call that only reads makes no key, and without one
// there are no records that it could trust. A run that can have none works, too.
func (o *Options) recordKey(access Access) (cache.RecordKey, error) {
	secret, err := o.recordSecret(access == Writing)
	if wrong := (*Error)(nil); errors.As(err, &wrong) {
		return nil, err
	}
	if err != nil {
		if access == Writing {
			o.notify(KeyMissing{err})
		}
		secret = make([]byte, keySize)
		rand.Read(secret) // never fails
	}
	return cache.NewRecordKey(secret)
}

// recordSecret is what the key of records is derived from: the user's key or, where a group
// trusts the results of its members, that of the group, which the user has to mend.
func (o *Options) recordSecret(create bool) ([]byte, error) {
	path, ok := o.lookupEnv(storeKeyVariable)
	if !ok || path == "" {
		return o.userKey(create)
	}
	secret, err := readGroupKey(path)
	if err != nil {
		return nil, fail(Usage, fmt.Errorf("%s: %w", storeKeyVariable, err))
	}
	return secret, nil
}

// storeKeyVariable names the file with the key of a group.
const storeKeyVariable = "FEVALGRAPH_STORE_KEY"

// readGroupKey reads a key that a person made, with any content that is long
// enough. What everybody can read is no secret.
func readGroupKey(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w (hint: make it with `head -c %d /dev/urandom >FILE`, and chmod 640)", err, keySize)
	}
	switch {
	case !info.Mode().IsRegular() || info.Size() < keySize || info.Size() > largestKey:
		return nil, fmt.Errorf("%s is no key: it has to be a file of %d to %d bytes", path, keySize, largestKey)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o007 != 0:
		return nil, fmt.Errorf("%s is open to everybody, so it proves nothing (hint: chmod 640)", path)
	}
	return os.ReadFile(path)
}

// userKey is the user's key, which lies where no project and no shared cache is. It is made
// when there is none, if it may be.
func (o *Options) userKey(create bool) ([]byte, error) {
	dir, err := o.userState()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "key")
	for range 2 { // another process may make it meanwhile
		key, err := os.ReadFile(path)
		switch {
		case err == nil && len(key) == keySize:
			return key, nil
		case err == nil:
			return nil, fmt.Errorf("the user's key, %s, is damaged; remove it", path)
		case !create || !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("reading the user's key: %w", err)
		}
		if err := makeKey(dir, path); err != nil {
			return nil, fmt.Errorf("making the user's key: %w", err)
		}
	}
	return nil, fmt.Errorf("the user's key, %s, does not stay where it is made", path)
}

// In bytes.
const (
	keySize    = 32
	largestKey = 4096
)

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
