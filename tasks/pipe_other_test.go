//go:build !unix

package tasks

import (
	"errors"
	"testing"
)

func makePipe(t *testing.T, _ string) {
	t.Helper()
	t.Skip("this platform has no named pipes in directories")
}

func makeDevice(string) error { return errors.ErrUnsupported }
