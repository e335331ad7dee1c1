package ramdir

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Small creates a file system of 256 KiB.
func Small(t testing.TB) (dir string, remountReadOnly func()) {
	t.Helper()
	return Sized(t, "256k")
}

// Sized creates a file system of a size. It skips the test without root, and without the right to mount.
func Sized(t testing.TB, size string) (dir string, remountReadOnly func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting a small tmpfs needs root")
	}
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		if errors.Is(err, syscall.EPERM) {
			t.Skip("this root may not mount (in a container without CAP_SYS_ADMIN)")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir, func() {
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// MountWholeSeconds mounts a new file system that stamps files with whole seconds. It needs root and a loop device.
func MountWholeSeconds(dir, image string, size int64) error {
	err := os.WriteFile(image, nil, 0o600)
	if err == nil {
		err = os.Truncate(image, size)
	}
	for _, argv := range [][]string{{"mke2fs", "-q", "-t", "ext2", "-I", "128", "-F", image}, {"mount", "-o", "loop", image, dir}} {
		if err == nil {
			var out []byte
			if out, err = exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
				err = fmt.Errorf("%q: %w: %s", argv, err, out)
			}
		}
	}
	return err
}

// Fill fills the file system to the last byte.
func Fill(t testing.TB, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{4096, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}
