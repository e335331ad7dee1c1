package workspace

import (
	"fmt"
	"io/fs"
	"time"
)

// Examine makes Untouched able to tell. It is for a workspace that was just made
// and into which nothing was placed yet.
func (w *Workspace) Examine() error {
	first, err := examine(w.root)
	if err != nil {
		return fmt.Errorf("examining workspace %s: %w", w.base, err)
	}
	w.first, w.begun = first, time.Now()
	return nil
}

// Untouched reports whether the workspace is as empty as it was made, regardless
// of what programs did in it, so that another session can have it. Call it when no
// process of the session is left. It returns false unless the workspace was examined.
func (w *Workspace) Untouched() bool {
	return w.root != nil && w.first != nil && w.first.unchanged(w.begun)
}

// Move moves an untouched workspace to base, where nothing must be, on the same
// file system. After an error it is where it was.
func (w *Workspace) Move(base string) error {
	if w.root == nil {
		return fmt.Errorf("moving workspace: %w", fs.ErrClosed)
	}
	if err := rename(w.base, base); err != nil {
		return fmt.Errorf("moving workspace: %w", err)
	}
	w.base, w.begun = base, time.Now()
	return nil
}
