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

// How often a caller looks by itself: where the system tells of changes, in case it missed one,
// and where it does not.
const (
	seldom = 30 * time.Second
	Often  = 2 * time.Second
)

// Source wakes one caller. It is used until something changed, and closed then: another takes its
// place, for the paths and directories that there are by then.
type Source struct {
	notify *fsnotify.Watcher // nil without events
	events chan struct{}     // has one while there is something to look at
	every  time.Duration
	why    error
}

// Open begins to listen for changes at paths. What happened before it returned may be missed.
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

// add listens for changes in directories. One that is gone by now, or may not be read, is left to
// the caller's own looks.
func (s *Source) add(dirs []string) {
	for _, dir := range dirs {
		err := s.notify.Add(dir)
		switch {
		case err == nil:
			if err = silent(dir); err != nil {
				s.why = err // of the others the system tells
			}
			continue
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
			continue
		case errors.Is(err, syscall.ENOSPC):
			err = errors.New("the system watches no more directories for this user (fs.inotify.max_user_watches)")
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
			err = fmt.Errorf("watching %s: %w (ulimit -n)", dir, err)
		}
		s.why = err
		return
	}
}

// Polls says why the source wakes by time alone; nil when it need not.
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
		case _, ok := <-w.Errors: // events were lost, or a directory with them
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
	default: // the caller has yet to look
	}
}

// Next returns when something may have changed and a burst of changes is over, or when it is time to
// look; or when ctx ends, whose cause it returns.
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

// Quiet returns when nothing has changed for a moment, or when ctx ends, whose cause it returns.
func (s *Source) Quiet(ctx context.Context) error { return quiet(ctx, s.events) }

// Close ends the source.
func (s *Source) Close() error {
	if s.notify == nil {
		return nil
	}
	return s.notify.Close()
}
