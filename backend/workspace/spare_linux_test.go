package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Changes to a workspace are visible, whether it was created just now or long ago.
func TestUntouched(t *testing.T) {
	touch := func(name string) func(base string) error {
		return func(base string) error { return os.WriteFile(filepath.Join(base, name), nil, 0o644) }
	}
	for name, change := range map[string]func(base string) error{
		"":             func(string) error { return nil },
		"file":         touch("work/f"),
		"file in home": touch("home/f"),
		"file in tmp":  touch("tmp/f"),
		"file above":   touch("f"),
		"mode":         func(base string) error { return os.Chmod(filepath.Join(base, "work"), 0o700) },
		"removed":      func(base string) error { return os.Remove(filepath.Join(base, "home")) },
		"moved":        func(base string) error { return os.Rename(filepath.Join(base, "home"), filepath.Join(base, "house")) },
		"made and gone": func(base string) error {
			return errors.Join(touch("tmp/f")(base), os.Remove(filepath.Join(base, "tmp/f")))
		},
	} {
		for _, age := range []time.Duration{0, time.Hour} {
			base := filepath.Join(t.TempDir(), "w")
			w, err := Make(base, cache.NewMemory(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Examine(); err != nil {
				t.Fatal(err)
			}
			for { // the clock of the file system has to go on
				if err := os.Chmod(base, 0o700); err != nil {
					t.Fatal(err)
				}
				if now, err := conditionOf(int(w.initial.dirs[0].Fd()), false); err != nil || now.changed != w.initial.first[3].changed {
					break
				}
			}
			w.knownAt = w.knownAt.Add(age)
			if err := change(base); err != nil {
				t.Fatal(err)
			}
			if got, want := w.Untouched(), name == ""; got != want {
				t.Errorf("%q, made %v ago: untouched %v, want %v", name, age, got, want)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
