//go:build !linux

package local

import "errors"

// onOwnThread is for namespaces, which only Linux has.
func onOwnThread(func() error) error { return errors.ErrUnsupported }
