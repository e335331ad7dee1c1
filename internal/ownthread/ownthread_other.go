//go:build !linux

package ownthread

import "errors"

// Do is for namespaces, which only Linux has.
func Do(func() error) error { return errors.ErrUnsupported }
