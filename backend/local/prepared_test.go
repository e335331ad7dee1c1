//go:build unix

package local_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
)

// makeModules is a command of Prepare: it makes the directory $1, and counts its calls next to it.
const makeModules = `set -eu
echo x >>"$1.calls"
mkdir -p "$1/lib/__pycache__"
echo 'right' >"$1/lib/runner.py"; echo 'other' >"$1/lib/other.py"; echo 'compiled' >"$1/lib/__pycache__/runner.pyc"
ln -s runner.py "$1/lib/link"`

// damages lists what can happen to a prepared directory, and whether it changes what programs see.
var damages = []struct {
	name   string
	damage func(dir string) error
	harm   bool
}{
	{"nothing", func(string) error { return nil }, false},
	{"touched", func(dir string) error {
		return os.Chtimes(filepath.Join(dir, "lib/runner.py"), time.Now(), time.Now().Add(-time.Hour))
	}, false},
	{"new cache of an interpreter", func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "lib/__pycache__/other.pyc"), nil, 0o644)
	}, false},
	{"same size and time", func(dir string) error {
		file := filepath.Join(dir, "lib/runner.py")
		info, err := os.Stat(file)
		return errors.Join(err, os.WriteFile(file, []byte("wrong\n"), 0o644), os.Chtimes(file, info.ModTime(), info.ModTime()))
	}, true},
	{"cut", func(dir string) error { return os.Truncate(filepath.Join(dir, "lib/runner.py"), 0) }, true},
	{"compiled module", func(dir string) error { return os.Truncate(filepath.Join(dir, "lib/__pycache__/runner.pyc"), 3) }, true},
	{"added", func(dir string) error { return os.WriteFile(filepath.Join(dir, "lib/a.pth"), nil, 0o644) }, true},
	{"removed", func(dir string) error { return os.Remove(filepath.Join(dir, "lib/other.py")) }, true},
	{"mode", func(dir string) error { return os.Chmod(filepath.Join(dir, "lib/runner.py"), 0o000) }, true},
	{"link", func(dir string) error {
		link := filepath.Join(dir, "lib/link")
		return errors.Join(os.Remove(link), os.Symlink("other.py", link))
	}, true},
	{"list of files", func(dir string) error { return os.Truncate(dir+".sealed", 10) }, true},
	{"all gone", os.RemoveAll, true},
}

// A prepared directory is used only in the state that its command left, whatever happens to it between two
// processes or while a command uses it. What changed is made again.
func TestPrepared(t *testing.T) {
	for _, level := range []string{"none", "full"} {
		for _, test := range damages {
			t.Run(level+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				base, err := filepath.EvalSymlinks(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				dir := filepath.Join(base, "env")
				calls := func() int {
					content, _ := os.ReadFile(dir + ".calls")
					return bytes.Count(content, []byte("x"))
				}
				open := func() *local.Backend {
					t.Helper()
					b := local.New(cache.NewMemory(), local.Options{Probes: local.Probes{Path: os.Getenv("PATH")}, Confinement: local.Confinement{Isolation: level}, Lifecycle: local.Lifecycle{Scratch: filepath.Join(base, "scratch")}})
					if _, err := b.Isolation(); err != nil {
						t.Skip(err)
					}
					_, exit, err := b.Prepare(t.Context(), "env", backend.Command{Argv: []string{"/bin/sh", "-c", makeModules, "sh", dir}, Prepares: dir})
					if err != nil || exit.Code != 0 {
						t.Fatalf("%+v, %v", exit, err)
					}
					return b
				}
				use := func(b *local.Backend, script string) (string, error) {
					t.Helper()
					s, err := b.Open(t.Context(), backend.Spec{Name: "node"})
					if err != nil {
						t.Fatal(err)
					}
					defer s.Close(t.Context())
					var out bytes.Buffer
					_, err = s.Exec(t.Context(), backend.Command{Argv: []string{"/bin/sh", "-c", script, "sh", dir}, Output: &out})
					return out.String(), err
				}
				const read = `cat "$1/lib/runner.py"`
				if out, err := use(open(), read); err != nil || out != "right\n" || calls() != 1 {
					t.Fatalf("%q, %v after %d calls", out, err, calls())
				}
				want := 1
				if test.harm {
					want++
				}
				if err := test.damage(dir); err != nil {
					t.Fatal(err)
				}
				b := open()
				if out, err := use(b, read); err != nil || out != "right\n" || calls() != want {
					t.Errorf("after it was damaged: %q, %v after %d calls, want %d", out, err, calls(), want)
				}
				// The same while a process of the user runs.
				damaged := make(chan error)
				go func() {
					var begun []string
					if !await.For(func() bool {
						begun, _ = filepath.Glob(filepath.Join(base, "scratch", "*", "work", "begun"))
						return len(begun) > 0
					}) {
						damaged <- errors.New("the command did not begin")
						return
					}
					damaged <- errors.Join(test.damage(dir), os.WriteFile(filepath.Join(filepath.Dir(begun[0]), "go"), nil, 0o644))
				}()
				_, err = use(b, read+"; : >begun; until [ -e go ]; do sleep 0.01; done")
				if failed := <-damaged; failed != nil {
					t.Fatal(failed)
				}
				if test.harm && err != nil && errors.Is(err, backend.ErrSpoiled) != (level == "none") {
					t.Errorf("whether the command can have caused it: %v", err)
				}
				listLost := test.name == "list of files" // commands do not read it
				if tool := (*backend.ToolError)(nil); errors.As(err, &tool) != (test.harm && !listLost) || err != nil && !strings.Contains(err.Error(), "prepared again") {
					t.Errorf("a command during whose time it was damaged: %v", err)
				}
				if test.harm && !listLost {
					want++
				}
				if out, err := use(b, read); err != nil || out != "right\n" || calls() != want {
					t.Errorf("later in the same process: %q, %v after %d calls, want %d", out, err, calls(), want)
				}
			})
		}
	}
}
