// Package user keeps what belongs to a person and to no project: their key, which proves
// what is theirs, and what they trust projects with.
package user

import (
	"fmt"
	"os"
	"path/filepath"
)

// StateDir is the directory of what fevalgraph keeps for a user beside projects.
func StateDir(lookupEnv func(string) (string, bool)) (string, error) {
	if dir, ok := lookupEnv("XDG_STATE_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "fevalgraph"), nil
	}
	home, err := os.UserHomeDir()
	if own, ok := lookupEnv("HOME"); ok && own != "" {
		home, err = own, nil
	}
	if err != nil {
		return "", fmt.Errorf("finding the user's directory of states: %w; set HOME or XDG_STATE_HOME", err)
	}
	return filepath.Join(home, ".local", "state", "fevalgraph"), nil
}
