//go:build unix

package local

import (
	"context"
	"fmt"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
)

// Reap ends what a dead run left of a session: every process that carries the
// entry's cookie, and its workspace unless the entry keeps it. It succeeds if
// the session no longer exists. It is a reaper for backend.Reap.
func Reap(ctx context.Context, e backend.Entry) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	// An empty cookie or a wrong path in a damaged registry must not end other
	// processes or remove the user's files.
	if e.Cookie == "" || !workspace.IsBase(e.Workspace, e.ID) {
		return fmt.Errorf("session %s: its registry entry is damaged; remove %q by hand", e.ID, e.Workspace)
	}
	if err := endMarked(newMark(e.Cookie), since{}); err != nil {
		return fmt.Errorf("session %s: %w", e.ID, err)
	}
	if err := workspace.Remove(e.Workspace); err != nil {
		return fmt.Errorf("session %s: %w", e.ID, err)
	}
	return nil
}
