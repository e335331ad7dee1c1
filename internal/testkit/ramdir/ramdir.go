// Package ramdir keeps the temporary files of tests in memory: where tests make
// many small files, that is a third to three quarters of what they cost; Run is for TestMain. Small is a file system
// that is soon full.
package ramdir

import (
	"os"
	"testing"
)

// place is where Linux keeps files in memory.
const place = "/dev/shm"

// room is how much memory has to be free, in bytes: the tests of a package use a
// tenth of it.
const room = 4 << 30

// Run runs the tests of a package with such a directory.
func Run(m *testing.M) (code int) {
	defer Use()()
	return m.Run()
}

// Use makes os.TempDir a directory in memory, and returns what removes it. Nothing
// is changed where there is no such place, where programs may not be run or
// little room is left there, and where TMPDIR says what to use.
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
