package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/lang"
)

// memory is what a run of everything wrote down of what it depended on, read back,
// and with what runs of a part found out after it.
type memory struct {
	*unchanged        // which ends as the last run of a part did
	whole      ending // as the run of everything did
	since      *since // nil when there was no run of a part
	snapshot   *cache.Amended
}

func readMemory(state string) (*memory, error) {
	b, err := os.ReadFile(filepath.Join(state, unchangedFile))
	if err != nil {
		return nil, err
	}
	u, first, err := decodeUnchanged(b)
	if err != nil {
		return nil, err
	}
	since, later, err := readSince(state, u)
	if err != nil {
		return nil, err
	}
	m := &memory{unchanged: u, whole: u.ending, since: since, snapshot: first.Amended(later)}
	if since != nil {
		u.ending = since.ending
	}
	return m, nil
}

// recall opens a project with what is remembered of it and nothing else. The
// memory is nil when there is none, or when something else is asked for by now;
// whether what was looked at then is still the same is left to find out.
func (a *app) recall(began time.Time, mode access) (*project, *memory) {
	if readOnly, err := a.cacheReadOnly(); err != nil || readOnly {
		return nil, nil
	}
	state := a.projectState()
	m, err := readMemory(state)
	if err != nil || !a.stillAsked(m.unchanged) {
		return nil, nil // there is always the long way
	}
	cfg := &lang.Config{Root: a.projectDir(), Settings: m.Settings}
	p := a.newProject(cfg, began, mode)
	if dir, err := a.cacheDir(cfg); err != nil || dir != m.Store {
		return nil, nil
	}
	if p.store, err = p.openDisks(m.Store); err != nil {
		return nil, nil
	}
	return p, m
}

// stillAsked reports whether the same configuration would be read as then, in the
// same environment.
func (a *app) stillAsked(u *unchanged) bool {
	if !bytes.Equal(u.Invocation, a.invocation(u.Salt)) || u.Invocation == nil {
		return false
	}
	for _, was := range u.Env {
		value, set := a.io.LookupEnv(was.Name)
		if now := sumOf(u.Salt, was.Name, value, set); now.Set != was.Set || !bytes.Equal(now.Sum, was.Sum) {
			return false
		}
	}
	return true
}

// changed looks what changed: ok when it is nothing but source files, which it
// returns. The checks that are given are made beside.
func (p *project) changed(ctx context.Context, m *memory, checks ...func() error) (files []string, ok bool) {
	if err := p.reopen(m.Backends); err != nil {
		return nil, false
	}
	different := errors.New("different")
	group, ctx := errgroup.WithContext(ctx)
	for _, check := range checks {
		group.Go(check)
	}
	group.Go(func() error {
		changes := m.snapshot.Changes(ctx, maxFiles)
		if changes.Other != "" {
			return different
		}
		files = changes.Files
		return nil
	})
	for i, was := range m.Backends {
		group.Go(func() error {
			now, err := p.reopened[i].Answers(ctx)
			if err == nil && !reflect.DeepEqual(now, was.Answers) {
				err = different
			}
			return err
		})
	}
	if group.Wait() != nil {
		return nil, false
	}
	return files, true
}
