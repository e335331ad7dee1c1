package remotehost

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/remote/parcel"
	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// step executes a step of a session.
func (h *host) step(ctx context.Context, task *wire.Session, result *wire.Result) (err error) {
	if err := h.store.add(ctx, task.Inputs); err != nil {
		return err
	}
	environment, prepared, err := h.environment(ctx, task.Snapshot)
	if err != nil {
		return err
	}
	s, err := h.open(ctx, task)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
	root, err := os.OpenRoot(filepath.Dir(s.Dir()))
	if err != nil {
		return err
	}
	defer root.Close()
	var before *parcel.Index
	if task.State {
		if before, err = readIndex(filepath.Join(h.dir, wire.StateFile)); err != nil {
			return err
		}
		if err := parcel.Restore(root, before, h.store); err != nil {
			return fmt.Errorf("restoring the workspace: %w", err)
		}
	}
	for _, in := range task.Inputs {
		if in.Placed {
			continue
		}
		if err := s.Place(ctx, in.Input); err != nil {
			return err
		}
	}
	if task.Exec != nil {
		cmd := *task.Exec
		worker.Localize(&cmd, environment, h.tools())
		if err := h.exec(cmd, task.Apart, result, func(cmd backend.Command) (backend.Exit, error) { return s.Exec(ctx, cmd) }); err != nil {
			return err
		}
		if prepared != nil {
			if err := prepared.Verify(); err != nil {
				return err
			}
		}
		result.Verify = worker.FailureOf(s.Verify(ctx))
	}
	return h.leave(root, parcel.Options{Parts: wire.Carried, Before: before, Known: h.knows, KnownSize: h.store.hasSize, Limit: task.Limit}, result)
}

// turn limits how long an action waits for the end of an abandoned action on this machine that uses the
// same directory.
const turn = time.Minute

// open creates the session's directory.
func (h *host) open(ctx context.Context, task *wire.Session) (backend.Session, error) {
	b := h.backend(task.ID)
	var s backend.Session
	var failed error
	exists := func(err error) bool {
		if errors.Is(err, fs.ErrExist) {
			failed = h.reap(ctx)
		}
		return errors.Is(err, fs.ErrExist) && failed == nil
	}
	err := retry.Patience{For: turn, Pause: 100 * time.Millisecond}.Do(ctx, exists, func() (err error) {
		s, err = b.Open(ctx, backend.Spec{Name: "action", ReadOnly: task.ReadOnly, Isolated: task.Isolated})
		return err
	})
	if errors.Is(err, fs.ErrExist) && failed == nil {
		err = &backend.PreemptedError{Err: fmt.Errorf("an abandoned action still runs: %w", err)}
	}
	return s, cmp.Or(failed, err)
}

func (h *host) knows(d cache.Digest) bool {
	known, err := h.store.Has(context.Background(), d)
	return known && err == nil
}

// exec runs a command with do, and stores its output.
func (h *host) exec(cmd backend.Command, apart bool, result *wire.Result, do func(backend.Command) (backend.Exit, error)) (err error) {
	var notes bytes.Buffer
	output := &capture{pieces: parcel.NewPieces(filepath.Join(h.dir, wire.OutputDir))}
	errs := &capture{pieces: parcel.NewPieces(filepath.Join(h.dir, wire.ErrorsDir))}
	cmd.Output, cmd.Notes = output, &notes
	if apart {
		cmd.Errors = errs
	}
	if result.Exit, err = do(cmd); err != nil {
		return err
	}
	result.Notes = notes.Bytes()
	var errErr error
	result.Output, result.OutputPieces, err = output.close()
	result.Errors, result.ErrorsPieces, errErr = errs.close()
	return errors.Join(err, errErr)
}

// leave packs the state for the next action.
func (h *host) leave(root *os.Root, o parcel.Options, result *wire.Result) error {
	index, err := parcel.Pack(root, parcel.NewPieces(filepath.Join(h.dir, wire.LeftDir)), o)
	if err != nil {
		return fmt.Errorf("packing the workspace: %w", err)
	}
	if index.OmittedEntries > 0 {
		result.Notes = fmt.Appendf(result.Notes, "%d files of %d bytes exceed max_state and are not kept for the next command\n", index.OmittedEntries, index.OmittedBytes)
	}
	before := 0
	if o.Before != nil {
		before = len(o.Before.Pieces)
	}
	if added := index.Pieces[before:]; len(added) == 1 && added[0].Size <= wire.Inline {
		if result.Added, err = os.ReadFile(filepath.Join(h.dir, wire.LeftDir, "0")); err != nil {
			return err
		}
	}
	text, err := index.Encode()
	if err != nil {
		return err
	}
	if len(text) <= wire.Inline {
		result.Index = text
		return nil
	}
	d := cache.SumBytes(text)
	result.IndexAt = &d
	return os.WriteFile(filepath.Join(h.dir, wire.IndexFile), text, 0o644)
}

func readIndex(path string) (*parcel.Index, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parcel.Decode(text)
}
