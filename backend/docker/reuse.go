package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/docker/docker/api/types/container"
)

// maxIdle bounds the containers that wait for a session: as many as a large
// machine has sessions at a time.
const maxIdle = 32

// idle is a stopped container that an earlier session left as it was made, and
// that session's name for it. It has no files: its workspace is gone.
type idle struct {
	id    string // of the session, which the next one takes over
	box   box
	image string // ID; all else that it was made of is the Backend's
}

// waiting are the containers that wait for a session.
type waiting struct {
	mu     sync.Mutex
	boxes  []idle // the one that waits the longest first
	closed bool
}

// put adds one and returns the one that has to go for it, if any.
func (w *waiting) put(i idle) (out idle, full bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return i, true
	}
	w.boxes = append(w.boxes, i)
	if len(w.boxes) <= maxIdle {
		return idle{}, false
	}
	out, w.boxes = w.boxes[0], slices.Delete(w.boxes, 0, 1)
	return out, true
}

// take returns the one of an image that was put last.
func (w *waiting) take(image string) (idle, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n, i := range slices.Backward(w.boxes) {
		if i.image == image {
			w.boxes = slices.Delete(w.boxes, n, n+1)
			return i, true
		}
	}
	return idle{}, false
}

// close returns all and takes no more.
func (w *waiting) close() []idle {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.boxes
	w.boxes, w.closed = nil, true
	return all
}

// Close removes the containers that wait for a session. Sessions that are still
// open keep theirs until they are closed. It may be called again, is bounded in
// time, and runs to its end on a cancelled ctx; what it cannot remove stays in
// the registry.
func (b *Backend) Close(ctx context.Context) error {
	var errs []error
	for _, i := range b.waiting.close() {
		errs = append(errs, b.drop(ctx, i))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("removing containers for reuse: %w", err)
	}
	return nil
}

// drop removes a container that no session has.
func (b *Backend) drop(ctx context.Context, i idle) error {
	if err := b.d.remove(ctx, i.box.name); err != nil {
		return err
	}
	return b.unregister(i.id)
}

// reused returns a container of the image for a session to take over, if one
// waits. One that another client has removed is forgotten.
func (b *Backend) reused(ctx context.Context, image string) (idle, bool, error) {
	for {
		i, found := b.waiting.take(image)
		if !found {
			return idle{}, false, nil
		}
		look, cancel := b.d.ask(ctx)
		state, err := b.d.api.ContainerInspect(look, i.box.id)
		cancel()
		if err == nil && state.State != nil && state.State.Status == container.StateExited {
			return i, true, nil
		}
		if err := b.drop(ctx, i); err != nil {
			return idle{}, false, err
		}
	}
}

// untouched reports whether the session's container may serve another one:
// every command in it ended by itself, and none changed a thing outside of the
// workspace. What cannot be seen counts as changed.
func (s *session) untouched(ctx context.Context) bool {
	_, isMounted := s.files.(*mounted)
	switch {
	case !s.b.opt.Reuse, s.keep, s.spent, !isMounted, s.box.id == "", s.box.lost, context.Cause(ctx) != nil:
		return false
	case s.facts.uid == 0, len(s.b.opt.Capabilities) > 0:
		return false // may write where untouchedLayer does not expect it
	}
	look, cancel := s.b.d.ask(ctx)
	defer cancel()
	found, err := s.b.d.api.ContainerInspect(look, s.box.id)
	if err != nil || found.State == nil || found.State.Status != container.StateExited {
		return false
	}
	targets := []string{s.b.opt.Workdir, homePath, tempPath}
	for _, m := range s.b.opt.Mounts {
		targets = append(targets, path.Clean(m.Target))
	}
	for _, m := range found.Mounts {
		// A volume that the image declares stays from one start to the next.
		if !slices.Contains(targets, path.Clean(m.Destination)) {
			return false
		}
	}
	if found.GraphDriver.Name != "overlay2" {
		return false
	}
	return untouchedLayer(found.GraphDriver.Data["UpperDir"], targets)
}

// untouchedLayer reports whether the directory of this machine that takes all
// that is written in a container has nothing in it but what the daemon makes
// there to mount on. The daemon's own list of changes would not do: it takes
// files of the same size and times for unchanged, and programs can set times.
// The directory cannot be deceived: of whatever a program changes, be it a mode
// or a time, there is an entry. Of those that are expected, none may be such
// that a program could have changed it or something in it.
func untouchedLayer(dir string, targets []string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	expected := map[string]bool{".": true}
	for _, target := range append([]string{"/sbin/docker-init", "/usr/sbin/docker-init", "/usr/bin/docker-init"}, targets...) {
		for at := strings.TrimPrefix(path.Clean(target), "/"); at != "."; at = path.Dir(at) {
			expected[at] = true
		}
	}
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		root, known := ownedByRoot(info)
		const others = 0o022
		switch {
		case !known, !expected[filepath.ToSlash(inside)], !root, info.Mode().Perm()&others != 0:
			return errTouched
		case info.IsDir(), info.Mode().IsRegular() && info.Size() == 0:
			return nil
		}
		return errTouched
	}) == nil
}

var errTouched = errors.New("changed by a command")
