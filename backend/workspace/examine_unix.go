//go:build unix

package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// examineScratch returns an error if the file system of a directory lacks a property that programs rely on: their
// failures would count as those of a solution.
func examineScratch(scratch string) (err error) {
	dir, err := os.MkdirTemp(scratch, "trial-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, p := range properties {
		if err := p.try(dir); err != nil {
			return fmt.Errorf("%s: %w", p.lacking, err)
		}
	}
	return nil
}

// properties lists what every file system of workspaces must support.
var properties = []struct {
	lacking string
	try     func(dir string) error
}{
	{"programs in it cannot be started", startsPrograms},
	{"files do not keep their modes", keepsModes},
	{"symbolic links cannot be created", func(dir string) error {
		return os.Symlink(filepath.Join(dir, "program"), filepath.Join(dir, "symlink"))
	}},
	{"hard links cannot be created", func(dir string) error { return os.Link(filepath.Join(dir, "program"), filepath.Join(dir, "link")) }},
	{"named pipes cannot be created", func(dir string) error { return unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600) }},
	{"names that differ only in case are the same", separatesCase},
}

// startsPrograms queries the kernel whether it would start a file.
func startsPrograms(dir string) error {
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		return err
	}
	return unix.Access(program, unix.X_OK)
}

func keepsModes(dir string) error {
	for _, mode := range []fs.FileMode{0o751, 0o640} {
		file := filepath.Join(dir, "program")
		if err := os.Chmod(file, mode); err != nil {
			return err
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		if info.Mode().Perm() != mode {
			return fmt.Errorf("%v became %v", mode, info.Mode().Perm())
		}
	}
	return nil
}

// separatesCase accepts the other behavior on macOS, where it is usual.
func separatesCase(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, "PROGRAM")); err == nil && runtime.GOOS != "darwin" {
		return fs.ErrExist
	}
	return nil
}
