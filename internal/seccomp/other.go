//go:build !linux || !(amd64 || arm64)

package seccomp

import "errors"

// Filter is a set of denied system calls. It takes Linux on an architecture with releases.
type Filter int

// The filters.
const (
	Reach Filter = 1 << iota
	Namespaces
	IPC
)

// Install returns an error.
func (f Filter) Install() error { return errors.ErrUnsupported }
