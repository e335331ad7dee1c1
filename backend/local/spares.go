package local

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
)

// spares holds workspaces that sessions left untouched, for reuse by later sessions. The registry lists
// them under their former sessions.
type spares struct {
	mu   sync.Mutex
	list []spare
}

type spare struct {
	id   string
	base string
	work *workspace.Workspace
}

// keep adds the workspace of an ended session if it is untouched and there is room, and reports whether it
// did.
func (s *spares) keep(id string, work *workspace.Workspace, most int) bool {
	s.mu.Lock()
	full := len(s.list) >= most
	s.mu.Unlock()
	if full || !work.Untouched() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, spare{id: id, base: work.Base(), work: work})
	return true
}

// acquire moves a spare to base, for a session that the registry already lists. It returns nil if no spare
// can be moved.
func (s *spares) acquire(base string, registry *backend.Registry) (*workspace.Workspace, error) {
	for {
		one, ok := s.pop()
		if !ok {
			return nil, nil
		}
		if err := one.work.Move(base); err != nil {
			if err := one.remove(registry); err != nil {
				return nil, err
			}
			continue
		}
		return one.work, unlist(registry, one.id)
	}
}

func (s *spares) pop() (spare, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) == 0 {
		return spare{}, false
	}
	one := s.list[len(s.list)-1]
	s.list = s.list[:len(s.list)-1]
	return one, true
}

func (one spare) remove(registry *backend.Registry) error {
	one.work.Close()
	if err := workspace.Remove(one.base); err != nil {
		return fmt.Errorf("removing workspace %s: %w", one.base, err)
	}
	return unlist(registry, one.id)
}

func unlist(registry *backend.Registry, id string) error {
	if registry == nil {
		return nil
	}
	return registry.Remove(id)
}

// Close removes the kept workspaces. No session may be open, or be opened later.
func (b *Backend) Close(context.Context) error {
	var failed error
	for {
		one, ok := b.spares.pop()
		if !ok {
			return failed
		}
		failed = errors.Join(failed, one.remove(b.opt.Registry))
	}
}
