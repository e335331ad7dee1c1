package wake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Intervals for checking: with events, in case one was missed, and without events.
const (
	seldom = 30 * time.Second
	Often  = 2 * time.Second
)

// Source wakes a caller once. It must be closed after a change, and replaced by a new one for the paths and
// directories that exist then.
type Source struct {
	notify *fsnotify.Watcher // nil without events
	events chan struct{}     // holds an element if there may be a change
	every  time.Duration
	why    error
}

// Open begins to listen for changes at paths. Changes before it returns can be missed.
func Open(paths []Path) *Source {
	s := &Source{events: make(chan struct{}, 1), every: seldom}
	known := entriesOf(paths)
	dirs := maps.Clone(known.lists)
	for dir := range known.names {
		dirs[dir] = true
	}
	if s.notify, s.why = fsnotify.NewWatcher(); s.why != nil {
		s.why = fmt.Errorf("%w (fs.inotify.max_user_instances)", s.why)
		s.notify = nil
	} else {
		s.add(slices.Sorted(maps.Keys(dirs)))
		go s.listen(s.notify, known)
	}
	if s.why != nil {
		s.every = Often
	}
	return s
}

// add listens for changes in directories. Directories that are missing or not readable are left to the caller's
// checks.
func (s *Source) add(dirs []string) {
	for _, dir := range dirs {
		err := s.notify.Add(dir)
		switch {
		case err == nil:
			if err = silent(dir); err != nil {
				s.why = err // the others still have events
			}
			continue
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
			continue
		case errors.Is(err, syscall.ENOSPC):
			err = errors.New("this user's limit on watched directories is reached (fs.inotify.max_user_watches)")
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
			err = fmt.Errorf("watching %s: %w (ulimit -n)", dir, err)
		}
		s.why = err
		return
	}
}

// Polls returns why the source wakes at short intervals, or nil if it receives events.
func (s *Source) Polls() error { return s.why }

func (s *Source) listen(w *fsnotify.Watcher, known *entries) {
	for {
		select {
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			if known.matter(e.Name) {
				s.wake()
			}
		case _, ok := <-w.Errors: // events were lost, or the directory was
			if !ok {
				return
			}
			s.wake()
		}
	}
}

func (s *Source) wake() {
	select {
	case s.events <- struct{}{}:
	default: // the caller has not checked yet
	}
}

// Next waits until something might have changed and the burst of changes is over, or until it is time to check.
// If ctx ends, it returns its cause.
func (s *Source) Next(ctx context.Context) error {
	look := time.NewTimer(s.every)
	defer look.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-look.C:
		return nil
	case <-s.events:
		return quiet(ctx, s.events)
	}
}

// Quiet waits until nothing has changed for a moment. If ctx ends, it returns its cause.
func (s *Source) Quiet(ctx context.Context) error { return quiet(ctx, s.events) }

// Close stops listening.
func (s *Source) Close() error {
	if s.notify == nil {
		return nil
	}
	return s.notify.Close()
}
