package local

import (
	"os"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend/workspace"
)

// scratch is the directory below which workspaces are created.
type scratch struct {
	dir string // as requested

	mu   sync.Mutex
	real string // "" until find was called
}

// find returns the directory's real path, and creates the directory if it is
// missing.
func (s *scratch) find() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if info, err := os.Lstat(s.real); s.real != "" && err == nil && info.IsDir() {
		return s.real, nil
	}
	real, err := workspace.Scratch(s.dir)
	if err == nil {
		s.real = real
	}
	return real, err
}
