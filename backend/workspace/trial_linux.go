package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// tryOverlay mounts an overlay with a lower layer below shelves and everything else
// below scratch, and returns an error when that cannot be done, or when it does
// not behave as a directory of scratch would.
func tryOverlay(shelves, scratch string) (err error) {
	lower, err := os.MkdirTemp(shelves, "trial-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(lower)) }()
	base, err := os.MkdirTemp(scratch, "trial-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, Remove(base)) }()
	for _, dir := range []string{filepath.Join(lower, workDir, "below"), filepath.Join(base, homeDir)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(lower, workDir, "below", "file"), []byte("lower"), 0o644); err != nil {
		return err
	}
	mount, root, err := mountOverlay(base, base+mountSuffix, []string{lower}, shelves)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close(), mount.close()) }()
	if err := changeAll(root); err != nil {
		return fmt.Errorf("an overlay on %s over %s does not behave like a directory: %w", scratch, shelves, err)
	}
	if b, err := os.ReadFile(filepath.Join(lower, workDir, "below", "file")); err != nil || string(b) != "lower" {
		return fmt.Errorf("an overlay on %s let something through to what is under it", scratch)
	}
	return nil
}

// changeAll does what overlays are known not to do, depending on the file systems
// under them and on how the kernel was built.
func changeAll(root *os.Root) error {
	const file, moved = workDir + "/below/file", homeDir + "/moved"
	before, err := root.Lstat(file)
	if err != nil {
		return err
	}
	if err := root.WriteFile(file, []byte("upper"), 0o644); err != nil {
		return err
	}
	after, err := root.Lstat(file)
	if err != nil {
		return err
	}
	if !os.SameFile(before, after) {
		return errors.New("a file is another one after it was written to")
	}
	if err := root.Rename(workDir+"/below", moved); err != nil {
		return err
	}
	if b, err := root.ReadFile(moved + "/file"); err != nil || string(b) != "upper" {
		return errors.Join(errors.New("a directory does not have its files after it was renamed"), err)
	}
	if err := root.RemoveAll(moved); err != nil {
		return err
	}
	if _, err := root.Lstat(moved); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(errors.New("a directory is there after it was removed"), err)
	}
	return nil
}
