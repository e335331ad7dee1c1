//go:build unix

package local

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestClosedBelow(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{
		"open": 0o644, "key": 0o600, "group": 0o640, "sub/key": 0o400, "sub/deep/key": 0o600, "private/any": 0o644, "entered/key": 0o600, "entered/open": 0o644,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(filepath.Join(dir, "private"), 0o750), os.Chmod(filepath.Join(dir, "entered"), 0o711), os.Symlink("key", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		depth int
		dirs  bool
		want  []string
	}{
		{9, true, []string{"entered/key", "group", "key", "private", "sub/deep/key", "sub/key"}},
		{2, false, []string{"entered/key", "group", "key", "sub/key"}},
	} {
		var got []string
		for _, path := range closedBelow(dir, c.depth, c.dirs) {
			got = append(got, strings.TrimPrefix(path, dir+"/"))
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
