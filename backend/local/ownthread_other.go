//go:build !linux

package local

import "errors"

// onOwnThread fails: only Linux has namespaces.
func onOwnThread(func() error) error { return errors.ErrUnsupported }
