package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
)

// Reaped reports the end of a session that a dead run left behind. If Err is nil, the session was removed
// completely; otherwise it stays in the registry.
type Reaped struct {
	Entry Entry
	Err   error
}

// Reap ends and removes the sessions of dead runs. For each registry file whose lock it can take, it calls
// the reaper of each session's kind, which must return nil if the session no longer exists. Files of
// living runs are not touched. A file is removed once it is empty. A cancelled ctx stops between sessions.
// The returned error is about the registry itself; errors about sessions are in the list.
func Reap(ctx context.Context, dir string, reapers map[string]func(context.Context, Entry) error) ([]Reaped, error) {
	var reaped []Reaped
	err := eachDead(dir, func(path string, entries []Entry) error {
		left := false
		var done []byte
		for _, e := range entries {
			if err := context.Cause(ctx); err != nil {
				return errors.Join(err, appendTo(path, done))
			}
			err := fmt.Errorf("no backend of kind %q to end it", e.Kind)
			if reap := reapers[e.Kind]; reap != nil {
				err = reap(ctx, e)
			}
			reaped = append(reaped, Reaped{Entry: e, Err: err})
			if err != nil {
				left = true
				continue
			}
			text, err := encodeLine(line{Op: opRemove, Entry: Entry{ID: e.ID}})
			if err != nil {
				return err
			}
			done = append(done, text...)
		}
		if left {
			return appendTo(path, done)
		}
		return os.Remove(path)
	})
	if err != nil {
		return reaped, fmt.Errorf("reaping sessions: %w", err)
	}
	return reaped, nil
}

// Leftovers lists the sessions of dead runs without touching them, by run and
// in the order in which they were opened.
func Leftovers(dir string) ([]Entry, error) {
	var left []Entry
	err := eachDead(dir, func(_ string, entries []Entry) error {
		left = append(left, entries...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing leftover sessions: %w", err)
	}
	return left, nil
}

// Living reports whether the process of a run is alive, according to its registry file in dir.
func Living(dir, run string) (bool, error) {
	if run != filepath.Base(run) {
		return false, nil // not the name of a run
	}
	lock, err := lockedfile.TryExisting(filepath.Join(dir, run+registrySuffix))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("checking whether run %s is alive: %w", run, err)
	case lock == nil:
		return true, nil
	}
	return false, lock.Close()
}

// eachDead calls visit, under the file's lock, with the open entries of every registry file without a
// living owner, sorted by name. A missing dir contains none.
func eachDead(dir string, visit func(path string, entries []Entry) error) error {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		run, isRegistry := strings.CutSuffix(f.Name(), registrySuffix)
		if !isRegistry || !f.Type().IsRegular() {
			continue
		}
		if err := visitDead(filepath.Join(dir, f.Name()), run, visit); err != nil {
			return err
		}
	}
	return nil
}

func visitDead(path, run string, visit func(path string, entries []Entry) error) error {
	// A file that another reaper has just removed must not come back.
	lock, err := lockedfile.TryExisting(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || lock == nil {
		return err
	}
	defer lock.Close()
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	entries := decodeRegistry(text)
	for i := range entries {
		entries[i].Run = run
	}
	return visit(path, entries)
}

// decodeRegistry returns the entries that were added and not removed, in order of addition. Invalid lines
// are skipped; see Registry.
func decodeRegistry(text []byte) []Entry {
	var entries []Entry
	for raw := range bytes.Lines(text) {
		var l line
		if json.Unmarshal(raw, &l) != nil || l.ID == "" {
			continue
		}
		same := func(e Entry) bool { return e.ID == l.ID }
		switch l.Op {
		case opAdd:
			entries = append(slices.DeleteFunc(entries, same), l.Entry)
		case opRemove:
			entries = slices.DeleteFunc(entries, same)
		}
	}
	return entries
}

// appendTo appends whole lines to a registry file. The caller must hold its lock.
func appendTo(path string, lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(append([]byte{'\n'}, lines...)) // the last line can be torn
	return errors.Join(err, f.Close())
}
