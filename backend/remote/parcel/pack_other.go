//go:build !linux

package parcel

import (
	"errors"
	"os"
)

// Pack returns an error: actions run on other systems.
func Pack(*os.Root, *Pieces, Options) (*Index, error) { return nil, errors.ErrUnsupported }

// Restore returns an error: actions run on other systems.
func Restore(*os.Root, *Index, Source) error { return errors.ErrUnsupported }
