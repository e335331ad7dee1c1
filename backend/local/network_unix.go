//go:build unix && !linux

package local

import (
	"errors"
	"fmt"
	"runtime"
)

// PrivateNetwork returns an error: this system has no private networks.
func PrivateNetwork() error { return enterPrivateNetwork() }

func enterPrivateNetwork() error {
	return fmt.Errorf("creating a private network: %w on %s", errors.ErrUnsupported, runtime.GOOS)
}
