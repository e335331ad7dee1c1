package remotehost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/remote/parcel"
	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
)

// Environments are next to workspaces, each under a separate name, and are created once per machine: other
// actions reuse them. Commands are isolated, so that they can read but not change it.

const (
	// content is the directory of the content of an environment.
	content = "content"
	// seal is the file that completes an environment. Its time is that of the last use.
	seal = content + local.SealSuffix
	// lockSuffix is the suffix of the lock file next to an environment, so that only one action creates it.
	lockSuffix = ".lock"
)

// place returns the directory of the environment of an ID.
func (h *host) place(id string) string { return filepath.Join(h.base, environmentsDir, id) }

// prepare runs a command that creates an environment.
func (h *host) prepare(ctx context.Context, task *wire.Session, result *wire.Result) (err error) {
	place := h.place(task.Prepare)
	if err := os.MkdirAll(filepath.Join(place, content), 0o755); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, workspace.Remove(place)) }()
	cmd := *task.Exec
	worker.Localize(&cmd, filepath.Join(place, content), h.tools())
	err = h.exec(cmd, false, result, func(cmd backend.Command) (backend.Exit, error) {
		_, exit, err := h.backend(task.ID).Prepare(ctx, task.Prepare, cmd)
		return exit, err
	})
	if err != nil || !result.Exit.Succeeded() {
		return err
	}
	root, err := os.OpenRoot(place)
	if err != nil {
		return err
	}
	defer root.Close()
	return h.leave(root, parcel.Options{Parts: []string{content}}, result)
}

// environment returns the path of the environment that commands need, and the environment itself, unless they need
// none. A changed one is unpacked again.
func (h *host) environment(ctx context.Context, s *wire.Snapshot) (string, *local.Prepared, error) {
	if s == nil {
		return filepath.Join(h.base, environmentsDir, "none"), nil, nil
	}
	place := h.place(s.ID)
	dir := filepath.Join(place, content)
	if found := use(place); found != nil {
		return dir, found, nil
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return "", nil, err
	}
	lock, err := lockedfile.Wait(ctx, place+lockSuffix)
	if err != nil {
		return "", nil, err
	}
	defer lock.Close()
	if found := use(place); found != nil { // another action created it meanwhile
		return dir, found, nil
	}
	if err := h.unpack(place, s); err != nil {
		return "", nil, fmt.Errorf("preparing the environment: %w", err)
	}
	made, err := local.RecordPrepared(ctx, dir, nil)
	return dir, made, err
}

// use returns a complete environment that is unchanged, or nil.
func use(place string) *local.Prepared {
	now := time.Now()
	if os.Chtimes(filepath.Join(place, seal), now, now) != nil {
		return nil
	}
	return local.OpenPrepared(filepath.Join(place, content))
}

func (h *host) unpack(place string, s *wire.Snapshot) error {
	if err := workspace.Remove(place); err != nil { // an incomplete environment
		return err
	}
	name, err := h.store.file(wire.SnapshotFile, s.Index)
	if err != nil {
		return err
	}
	index, err := readIndex(name)
	if err != nil {
		return err
	}
	if err := os.Mkdir(place, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(place)
	if err != nil {
		return err
	}
	defer root.Close()
	return parcel.Restore(root, index, h.store)
}
