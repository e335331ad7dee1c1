// Package ramdir keeps the temporary files of tests in memory: for tests with many small files, that saves a
// third to three quarters of their time. Run is for TestMain. Small is a file system that fills up soon.
package ramdir

import (
	"os"
	"testing"
)

// place is where Linux keeps files in memory.
const place = "/dev/shm"

// room is the required free memory, in bytes: the tests of a package use a tenth of it.
const room = 4 << 30

// Run runs the tests of a package with such a directory.
func Run(m *testing.M) (code int) {
	defer Use()()
	return m.Run()
}

// Use makes os.TempDir a directory in memory, and returns a function that removes it. It changes nothing if the
// machine lacks such a file system, if it permits no programs or has little room, or if TMPDIR is set.
func Use() (remove func()) {
	if os.Getenv("TMPDIR") != "" || !fits(place) {
		return func() {}
	}
	dir, err := os.MkdirTemp(place, "fevalgraph-test-")
	if err != nil {
		return func() {}
	}
	os.Setenv("TMPDIR", dir)
	return func() {
		os.Unsetenv("TMPDIR")
		os.RemoveAll(dir)
	}
}
