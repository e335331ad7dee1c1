package main

import (
	"errors"
	"syscall"

	"github.com/fevalgraph/fevalgraph/internal/testkit/ramdir"
)

// mountSmall mounts a file system of a size such as "1m" at dir.
func mountSmall(dir, size string) error {
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size)
}

// mountWith mounts a file system with an option at dir.
func mountWith(dir, option string) error {
	flags := map[string]uintptr{"noexec": syscall.MS_NOEXEC, "nosuid": syscall.MS_NOSUID}
	return syscall.Mount("tmpfs", dir, "tmpfs", flags[option], "size=100m")
}

// mountWholeSeconds mounts a file system that stamps files with whole seconds, a new image, at dir.
func mountWholeSeconds(dir, image string) error {
	return ramdir.MountWholeSeconds(dir, image, 128<<20)
}

// mountReadOnly makes what is at dir unchangeable, for root, too.
func mountReadOnly(dir string) error {
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		return err
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
		return errors.Join(err, unmount(dir))
	}
	return nil
}

// mountUnreadable mounts the memory of a process over a file: it remains a regular file for stat, but reading its
// beginning is an input/output error.
func mountUnreadable(file string) error {
	return syscall.Mount("/proc/self/mem", file, "", syscall.MS_BIND, "")
}

func unmount(dir string) error { return syscall.Unmount(dir, syscall.MNT_DETACH) }
