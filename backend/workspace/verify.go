package workspace

import (
	"errors"
	"fmt"
	"os"
)

// Verify does what backend.Session.Verify says about the directory: it is still
// the one that was made, all of it, and its file system has room.
func (w *Workspace) Verify() error {
	if w.root == nil {
		return errors.New("the workspace is closed")
	}
	made, err := w.root.Stat(".")
	if err != nil {
		return fmt.Errorf("looking at the workspace: %w", err)
	}
	if now, err := os.Lstat(w.base); err != nil || !os.SameFile(made, now) {
		return fmt.Errorf("the workspace %s was removed or replaced while a command ran", w.base)
	}
	for _, dir := range []string{workDir, homeDir, tempDir} {
		if info, err := w.root.Lstat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("the directory %s of the workspace %s was removed while a command ran", dir, w.base)
		}
	}
	return room(w.base)
}
