package wake

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
)

// tree creates files in a directory whose path has no links.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		write(t, filepath.Join(dir, name))
	}
	return dir
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func do(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// woken waits until a source has an event.
func woken(t *testing.T, s *Source) {
	t.Helper()
	await.Until(t, "the source has an event", func() bool { return len(s.events) > 0 })
}

func TestSourceWakes(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string){
		"a file is written":      func(t *testing.T, dir string) { write(t, dir+"/sub/file") },
		"a file is replaced":     func(t *testing.T, dir string) { write(t, dir+"/new"); do(t, os.Rename(dir+"/new", dir+"/sub/file")) },
		"a file is removed":      func(t *testing.T, dir string) { do(t, os.Remove(dir+"/sub/file")) },
		"a missing file appears": func(t *testing.T, dir string) { write(t, dir+"/sub/missing") },
		"its directory appears":  func(t *testing.T, dir string) { write(t, dir+"/none/deep/file") },
		"an entry of a list":     func(t *testing.T, dir string) { write(t, dir+"/list/new") },
		"a directory in a list":  func(t *testing.T, dir string) { do(t, os.Mkdir(dir+"/list/new", 0o755)) },
		"a directory is replaced": func(t *testing.T, dir string) {
			do(t, os.Rename(dir+"/sub", dir+"/was"), os.Rename(dir+"/other", dir+"/sub"))
		},
		"a file behind a link":      func(t *testing.T, dir string) { write(t, dir+"/target/file") },
		"a link leads elsewhere":    func(t *testing.T, dir string) { do(t, os.Symlink("other", dir+"/l"), os.Rename(dir+"/l", dir+"/link")) },
		"a link that leads nowhere": func(t *testing.T, dir string) { write(t, dir+"/void") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, "sub/file", "list/old", "other/file", "target/file")
			do(t, os.Symlink("target", dir+"/link"), os.Symlink("void", dir+"/dangling"))
			s := Open([]Path{{Name: dir + "/sub/file"}, {Name: dir + "/sub/missing"}, {Name: dir + "/none/deep/file"},
				{Name: dir + "/list", List: true}, {Name: dir + "/link/file"}, {Name: dir + "/dangling"}})
			defer s.Close()
			if err := s.Polls(); err != nil {
				t.Fatal(err)
			}
			change(t, dir)
			woken(t, s)
		})
	}
}

// Files next to watched paths are ignored.
func TestSourceLeavesOthersAlone(t *testing.T) {
	known := entriesOf([]Path{{Name: tree(t, "sub/file") + "/sub/file"}})
	for dir := range known.names {
		if known.matter(filepath.Join(dir, "beside")) {
			t.Errorf("an entry of no interest in %s matters", dir)
		}
	}
}

func TestSourceEndsWithTheContext(t *testing.T) {
	s := Open(nil)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Next(ctx); err == nil {
		t.Error("it goes on")
	}
}
