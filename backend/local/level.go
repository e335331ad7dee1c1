package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
)

// Isolation returns the isolation level of commands, and why it is not higher.
func (b *Backend) Isolation() (level isolation.Level, reason error) { return b.level() }

// isolationLevel returns the level without the reason.
func (b *Backend) isolationLevel() isolation.Level {
	level, _ := b.Isolation()
	return level
}

// findLevel returns the level, and sets the isolator for it.
func (b *Backend) findLevel() (isolation.Level, error) {
	wanted := []isolation.Level{isolation.Full, isolation.Partial, isolation.None}
	if b.opt.Isolation != "" {
		wanted = []isolation.Level{isolation.Level(b.opt.Isolation)}
	}
	if wanted[0] == isolation.None {
		return wanted[0], nil
	}
	programs := []*isolation.Program{nil} // use this program instead, which works if the machine isolates
	if b.opt.Isolator != nil {
		if small, err := isolation.OpenProgram(b.opt.Isolator()); err == nil {
			programs = []*isolation.Program{small, nil}
		}
	}
	if b.opt.Isolation != "" && b.opt.Tried {
		b.isolator = programs[0]
		return wanted[0], nil
	}
	view, remove, err := b.trialView()
	if err != nil {
		return wanted[0], err
	}
	defer remove()
	var reason error
	for _, level := range wanted {
		for _, by := range programs {
			if err = isolation.Try(by, level, view); err == nil {
				b.isolator = by
				return level, reason
			}
		}
		if reason == nil {
			reason = fmt.Errorf("isolation %q: %w", level, err)
		}
	}
	return wanted[0], reason
}

// trialView returns a view with a workspace, like the views of sessions.
func (b *Backend) trialView() (view isolation.View, remove func(), err error) {
	scratch, err := b.scratch.Find()
	if err != nil {
		return view, nil, err
	}
	base, err := os.MkdirTemp(scratch, "trial-")
	if err != nil {
		return view, nil, err
	}
	remove = func() { os.RemoveAll(base) }
	cache := filepath.Join(base, "cache")
	if err := os.Mkdir(cache, 0o700); err != nil {
		remove()
		return view, nil, err
	}
	return isolation.View{
		ReadOnly: systemPlaces(), Writable: []string{base}, Temp: base,
		Overlays: []isolation.Overlay{{Lower: cache, Target: cache, Changes: filepath.Join(base, "changes")}},
	}, remove, nil
}

// requireIsolation returns an error if the machine isolates less than the configuration requires.
func (b *Backend) requireIsolation() (isolation.Level, error) {
	level, reason := b.Isolation()
	if b.opt.Isolation != "" && reason != nil {
		return level, &backend.ToolError{Tool: "isolation " + string(level), Err: reason, Hint: "allow namespaces on this machine, or set a lower isolation in the backend's block"}
	}
	return level, nil
}

// Open implements backend.Backend.
func (b *Backend) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	if b.inside != nil {
		return b.openInside(ctx, spec)
	}
	level, err := b.requireIsolation()
	if err != nil {
		return nil, fmt.Errorf("opening session: %w", err)
	}
	if len(spec.Places) > 0 {
		if err := b.checkPlaces(ctx); err != nil {
			return nil, fmt.Errorf("opening session: %w", err)
		}
	}
	return b.open(ctx, spec, level)
}

// checkPlaces returns an error if commands see the machine's own files at absolute paths.
func (b *Backend) checkPlaces(context.Context) error {
	level, reason := b.Isolation()
	if level == isolation.Full && reason == nil {
		return nil
	}
	if reason == nil {
		reason = fmt.Errorf("commands run with isolation %q", level)
	}
	return &backend.ToolError{Tool: "isolation full", Err: fmt.Errorf("files cannot be mounted at absolute paths: %w", reason), Hint: "allow namespaces on this machine, or use a docker backend"}
}

// unisolatedBackend is a backend for commands of the problem that write to directories that all sessions
// read.
type unisolatedBackend struct{ *Backend }

// Open implements backend.Backend.
func (b unisolatedBackend) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	return b.open(ctx, spec, isolation.None)
}
