//go:build !linux

package parcel

import (
	"errors"
	"os"
)

// Pack packs nothing on this system: actions run on others.
func Pack(*os.Root, *Pieces, Options) (*Index, error) { return nil, errors.ErrUnsupported }

// Restore unpacks nothing on this system.
func Restore(*os.Root, *Index, Source) error { return errors.ErrUnsupported }
