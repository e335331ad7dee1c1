package workspace

import (
	"os"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
)

// ScratchDir is the directory below which a backend creates workspaces. It is safe for concurrent use.
type ScratchDir struct {
	Dir string // argument of Scratch

	mu       sync.Mutex
	real     string // "" until it was found
	suitable bool   // real was examined
}

// Find calls Scratch once, and again if the directory was removed.
func (s *ScratchDir) Find() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find()
}

func (s *ScratchDir) find() (string, error) {
	if info, err := os.Lstat(s.real); s.real != "" && err == nil && info.IsDir() {
		return s.real, nil
	}
	real, err := Scratch(s.Dir)
	if err == nil {
		s.real, s.suitable = real, false
	}
	return real, err
}

// FindSuitable is like Find, but also examines the directory once: its file system must have room. If programs
// would not work as usual in workspaces there, the error is a *backend.ToolError.
func (s *ScratchDir) FindSuitable() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	real, err := s.find()
	if err != nil || s.suitable {
		return real, err
	}
	if err := exhaustion.RoomToBegin(real); err != nil {
		return "", err
	}
	if err := examineScratch(real); err != nil {
		return "", &backend.ToolError{Tool: "workspaces in " + real, Err: err, Hint: "set TMPDIR to a directory on another file system"}
	}
	s.suitable = true
	return real, nil
}
