// Package user stores data of a user that belongs to no project: the key that authenticates the user's files,
// and the trust in projects.
package user

import (
	"fmt"
	"os"
	"path/filepath"
)

// StateDir returns the user's directory for data outside of projects.
func StateDir(lookupEnv func(string) (string, bool)) (string, error) {
	return directory(lookupEnv, "XDG_STATE_HOME", ".local/state")
}

// CacheDir returns the user's cache directory for files that fevalgraph trusts without proof and recreates if
// they are lost. A store, in contrast, can be in a project from elsewhere or be shared with others.
func CacheDir(lookupEnv func(string) (string, bool)) (string, error) {
	return directory(lookupEnv, "XDG_CACHE_HOME", ".cache")
}

func directory(lookupEnv func(string) (string, bool), variable, usual string) (string, error) {
	if dir, ok := lookupEnv(variable); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "fevalgraph"), nil
	}
	home, err := os.UserHomeDir()
	if own, ok := lookupEnv("HOME"); ok && own != "" {
		home, err = own, nil
	}
	if err != nil {
		return "", fmt.Errorf("finding the user's directory %s: %w; set HOME or %s", usual, err, variable)
	}
	return filepath.Join(home, filepath.FromSlash(usual), "fevalgraph"), nil
}
