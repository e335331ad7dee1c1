package ramdir

import (
	"os"
	"path/filepath"
	"testing"
)

func TestUse(t *testing.T) {
	t.Setenv("TMPDIR", "")
	os.Unsetenv("TMPDIR")
	before := os.TempDir()
	remove := Use()
	dir := os.TempDir()
	if fits(place) != (filepath.Dir(dir) == place) {
		t.Errorf("there is room in memory: %v; temporary files are in %s", fits(place), dir)
	}
	remove()
	if os.TempDir() != before {
		t.Errorf("afterwards they are in %s, not %s", os.TempDir(), before)
	}
	if _, err := os.Stat(dir); dir != before && !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", dir, err)
	}
}

func TestUseLeavesAChoice(t *testing.T) {
	chosen := t.TempDir()
	t.Setenv("TMPDIR", chosen)
	defer Use()()
	if os.TempDir() != chosen {
		t.Errorf("temporary files are in %s", os.TempDir())
	}
}
