package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// twoImages returns file systems with one file, which differ in its bytes alone.
func twoImages(t *testing.T, dir string) []string {
	t.Helper()
	source, first, second := filepath.Join(dir, "image"), filepath.Join(dir, "first.img"), filepath.Join(dir, "second.img")
	diffTree(source).write("words.txt", "of the first image\n", 0o644)
	if out, err := exec.Command("mke2fs", "-q", "-t", "ext4", "-d", source, first, "1M").CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED HERE: making an image takes mke2fs: %v\n%s", err, out)
	}
	content, err := os.ReadFile(first)
	must(err)
	if n := bytes.Count(content, []byte("of the first image")); n != 1 {
		t.Fatalf("the image has its file's bytes %d times", n)
	}
	must(os.WriteFile(second, bytes.Replace(content, []byte("of the first image"), []byte("of another images!"), 1), 0o644))
	return []string{first, second}
}

// freeLoop returns a loop device that is not in use.
func freeLoop() (string, error) {
	out, err := exec.Command("losetup", "--find").Output()
	return strings.TrimSpace(string(out)), err
}

// mountImage mounts an image, which nothing can change then, by a loop device.
func mountImage(image, loop, dir string) error {
	out, err := exec.Command("mount", "-o", "ro,loop="+loop, image, dir).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return err
}

// unmountImage returns when the loop device is free again.
func unmountImage(dir string) error {
	out, err := exec.Command("umount", "-d", dir).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return err
}
