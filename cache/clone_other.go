//go:build !linux

package cache

import (
	"errors"
	"fmt"
	"os"
)

func cloneFile(_, from *os.File) error {
	return fmt.Errorf("cloning %s: %w", from.Name(), errors.ErrUnsupported)
}
