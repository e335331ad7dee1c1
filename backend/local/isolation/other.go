//go:build !linux

package isolation

import (
	"errors"
	"os/exec"
	"syscall"
)

// Process is for systems with namespaces or Landlock.
type Process struct{}

// Program exists on systems with namespaces or Landlock only.
type Program struct{}

// OpenProgram returns an error: only Linux isolates.
func OpenProgram(string) (*Program, error) { return nil, errors.ErrUnsupported }

// Command returns an error: only Linux isolates.
func Command(*exec.Cmd, *Program, Level, View) (*Process, error) { return nil, errors.ErrUnsupported }

// Scoped returns false.
func Scoped() bool { return false }

// Begin does nothing.
func (p *Process) Begin(bool) error { return nil }

// Attends returns false.
func (p *Process) Attends() bool { return false }

// Stopped returns false.
func (p *Process) Stopped() bool { return false }

// Crowded returns nil.
func (p *Process) Crowded() error { return nil }

// End returns that no program was reported.
func (p *Process) End() (ended syscall.WaitStatus, ok bool, err error) { return ended, false, nil }
