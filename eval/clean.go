package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/event"
)

// CleanRequest says what to remove of a project's.
type CleanRequest struct {
	KeepRuns   int  // run records to keep
	All        bool // remove the whole state directory
	Containers bool // remove containers and images from the Docker daemon in use
}

// Cleaned is what was removed.
type Cleaned struct {
	Containers *RemovedContainers // nil unless some were asked for and could be tried
	State      string             // the state directory, when it was removed
	Sessions   int                // of earlier runs, that were ended
	Removed    int                // run records
	Runs       int                // that there were
}

// Clean ends the sessions of crashed runs and removes old run records, or more. The
// shared store is not touched. Cleaned is what could be removed before an error.
func Clean(ctx context.Context, o Options, r CleanRequest) (*Cleaned, error) {
	c, state := &Cleaned{}, o.StateDir()
	reaped, err := backend.Reap(ctx, sessionsDir(state), o.reapers())
	if err != nil {
		return c, fail(NotJudged, err)
	}
	ended, left := sumReaped(reaped)
	if len(left) > 0 { // All would forget them
		return c, fail(NotJudged, fmt.Errorf("ending leftover sessions: %w", errors.Join(left...)))
	}
	c.Sessions = ended
	if r.Containers {
		if c.Containers, err = o.cleanContainers(ctx, state); err != nil {
			return c, fail(NotJudged, err)
		}
	}
	if r.All {
		if err := os.RemoveAll(state); err != nil {
			return c, fail(NotJudged, err)
		}
		c.State = state
		return c, nil
	}
	runs, err := event.Runs(state)
	if err != nil {
		return c, fail(NotJudged, err)
	}
	for c.Runs = len(runs); c.Runs-c.Removed > max(r.KeepRuns, 0); c.Removed++ {
		if err := os.RemoveAll(filepath.Join(state, "runs", runs[c.Removed])); err != nil {
			return c, fail(NotJudged, err)
		}
	}
	return c, nil
}
