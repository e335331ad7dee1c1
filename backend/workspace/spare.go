package workspace

import (
	"fmt"
	"io/fs"
)

// Examine records the state of the workspace for Untouched. The workspace must
// be new, without inputs.
func (w *Workspace) Examine() error {
	first, err := examine(w.root)
	if err != nil {
		return fmt.Errorf("examining workspace %s: %w", w.base, err)
	}
	w.initial, w.knownAt = first, first.now()
	return nil
}

// Untouched reports whether the workspace is in its initial, empty state, so that
// another session can use it. No process of the session may be left. It returns false
// unless the workspace was examined.
func (w *Workspace) Untouched() bool {
	return w.root != nil && w.initial != nil && w.initial.areUnchanged(w.knownAt)
}

// Move moves an untouched workspace to base, which must not exist, on the same
// file system. After an error, it is unmoved.
func (w *Workspace) Move(base string) error {
	if w.root == nil {
		return fmt.Errorf("moving workspace: %w", fs.ErrClosed)
	}
	if err := rename(w.base, base); err != nil {
		return fmt.Errorf("moving workspace: %w", err)
	}
	w.base = base
	if w.initial != nil {
		w.knownAt = w.initial.now()
	}
	return nil
}
