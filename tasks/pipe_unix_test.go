//go:build unix

package tasks

import (
	"syscall"
	"testing"
)

func makePipe(t *testing.T, name string) {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o666); err != nil {
		t.Fatal(err)
	}
}

// makeDevice makes the device that swallows everything.
func makeDevice(name string) error { return syscall.Mknod(name, syscall.S_IFCHR|0o644, 1<<8|3) }
