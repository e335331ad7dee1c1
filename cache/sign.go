package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/cache/files"
)

// Sign signs the valid records that the store's key did not sign, and returns their number. They are
// served from then on, so the content of the store must be trusted, such as after an upgrade from an
// earlier version.
func (d *Disk) Sign(ctx context.Context) (signed int64, err error) {
	if d.readOnly {
		return 0, fmt.Errorf("signing the records of store %s: %w", d.dir, ErrReadOnly)
	}
	err = d.eachFile(ctx, acDir, func(s storedFile) error {
		done, err := d.signRecord(s)
		if done {
			signed++
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("signing the records of store %s: %w", d.dir, err)
	}
	return signed, err
}

// signRecord writes a record again, with a signature and the time of its last use. It leaves damaged
// records for Verify.
func (d *Disk) signRecord(s storedFile) (done bool, err error) {
	if s.stray {
		return false, nil
	}
	path, k := d.path(filepath.FromSlash(s.name)), Key(s.hash)
	b, err := files.ReadFile(d.files, path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	var foreign *ForeignError
	if _, err := DecodeRecord(d.signer, k, b); !errors.As(err, &foreign) {
		return false, nil
	}
	r, err := DecodeRecord(nil, k, b)
	if err != nil {
		return false, nil
	}
	if b, err = EncodeRecord(d.signer, k, r); err != nil {
		return false, err
	}
	if err := d.writeFile(path, b); err != nil {
		return false, err
	}
	return true, d.files.Touch(path, s.info.ModTime())
}
