//go:build !linux || !(amd64 || arm64)

package seccomp

import "errors"

// Filter is a set of denied system calls. It is supported on Linux, for the architectures of releases.
type Filter int

// Filters.
const (
	Reach Filter = 1 << iota
	Namespaces
	IPC
)

// Install returns an error.
func (f Filter) Install() error { return errors.ErrUnsupported }
