package local_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache"
)

// A workspace is used again by the next session, under another name, if and only
// if it is as it was made.
func TestSpares(t *testing.T) {
	for script, again := range map[string]bool{
		"true":                              true,
		"exit 3":                            true,
		"touch file":                        false,
		"touch ../file":                     false,
		"touch $HOME/.file":                 false,
		"mkdir $TMPDIR/d":                   false,
		"chmod 700 .":                       false,
		"chmod 755 ..":                      false,
		"rmdir ../home":                     false,
		"mv ../home ../house":               false,
		"cd .. && rmdir work && mkdir work": false,
	} {
		t.Run(script, func(t *testing.T) {
			dir := t.TempDir()
			registry, err := backend.OpenRegistry(filepath.Join(dir, "sessions"), "run")
			if err != nil {
				t.Fatal(err)
			}
			scratch := filepath.Join(dir, "scratch")
			b := local.New(cache.NewMemory(), local.Options{Lifecycle: local.Lifecycle{Scratch: scratch, Registry: registry, Spares: 1}, Probes: local.Probes{Path: backendtest.Path}, Confinement: local.Confinement{Isolation: "none"}})
			first := runIn(t, b, script)
			if got := first.again; got != again {
				t.Errorf("used again: %v, want %v", got, again)
			}
			if first.dir == first.next {
				t.Errorf("both sessions were in %s", first.dir)
			}
			if err := b.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if err := registry.Close(); err != nil {
				t.Error(err)
			}
			for _, d := range []string{"scratch", "sessions"} {
				if left, err := os.ReadDir(filepath.Join(dir, d)); len(left) > 0 || err != nil {
					t.Errorf("left in %s: %v, %v", d, left, err)
				}
			}
		})
	}
}

type twice struct {
	dir, next string // of the sessions
	again     bool   // it was one directory
}

// runIn runs script in a session of b, and opens another one after it.
func runIn(t *testing.T, b backend.Backend, script string) (ran twice) {
	t.Helper()
	var states [2]os.FileInfo
	for i := range states {
		s, err := b.Open(t.Context(), backend.Spec{Name: "node"})
		if err != nil {
			t.Fatal(err)
		}
		base, err := os.Open(filepath.Dir(s.Dir()))
		if err != nil {
			t.Fatal(err)
		}
		defer base.Close() // only at the end: no other directory gets its identity before
		if states[i], err = base.Stat(); err != nil {
			t.Fatal(err)
		}
		if ran.dir = ran.next; i == 0 {
			if _, err := s.Exec(t.Context(), backend.Command{Argv: []string{"sh", "-c", script}}); err != nil {
				t.Fatal(err)
			}
		}
		ran.next = s.Dir()
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ran.again = os.SameFile(states[0], states[1])
	return ran
}
