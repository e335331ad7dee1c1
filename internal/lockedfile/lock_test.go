package lockedfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func try1(t *testing.T, path string) *Lock {
	t.Helper()
	l, err := Try(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "lock")
	if l, err := TryExisting(path); l != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v, %v", l, err)
	}
	first := try1(t, path)
	if l := try1(t, path); l != nil {
		t.Error("locked twice")
	}
	if l, err := TryExisting(path); l != nil || err != nil {
		t.Errorf("locked twice: %v, %v", l, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if l, err := Wait(ctx, path); l != nil || !errors.Is(err, enough) {
		t.Errorf("waited for %v, %v", l, err)
	}
	// A process that removes the file leaves the lock; the next one does not wait for a file without a name.
	if runtime.GOOS != "windows" {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		second := try1(t, path)
		if second == nil {
			t.Fatal("a file that is not there any more is locked")
		}
		second.Close()
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	last, err := Wait(t.Context(), path)
	if err != nil || last == nil {
		t.Fatal(last, err)
	}
	if err := last.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

// Two values with one path behave like two processes.
func TestMutex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var a, b Mutex
	a.Path, b.Path = path, path
	var shared, alone atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		m := []*Mutex{&a, &b}[i%2]
		wg.Go(func() {
			for round := range 200 {
				var err error
				if round%4 == 0 {
					err = m.Exclusive(func() error {
						if alone.Add(1) != 1 || shared.Load() != 0 {
							t.Error("the lock is not exclusive")
						}
						alone.Add(-1)
						if round%16 == 0 && i == 0 {
							os.Remove(path) // by the user, for example
						}
						return nil
					})
				} else {
					err = m.Shared(func() error {
						shared.Add(1)
						if alone.Load() != 0 {
							t.Error("shared next to an exclusive holder")
						}
						shared.Add(-1)
						return nil
					})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	failed := errors.New("of the function")
	if err := a.Exclusive(func() error { return failed }); err != failed {
		t.Errorf("got %v", err)
	}
	if err := b.Shared(func() error { return failed }); err != failed {
		t.Errorf("got %v", err)
	}
	// Many share it at once.
	err := a.Shared(func() error { return b.Shared(func() error { return a.Shared(func() error { return nil }) }) })
	if err = errors.Join(err, a.Close(), b.Close(), a.Exclusive(func() error { return nil }), a.Close()); err != nil {
		t.Error(err)
	}
}

func TestKeys(t *testing.T) {
	dir := t.TempDir()
	a, b := Keys{Dir: dir}, Keys{Dir: dir}
	release, ok, err := a.Try([32]byte{1})
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	for name, k := range map[string]*Keys{"its own": &a, "another": &b} {
		if _, ok, err := k.Try([32]byte{1}); ok || err != nil {
			t.Errorf("%s got a key that is locked: %v, %v", name, ok, err)
		}
		other, ok, err := k.Try([32]byte{2})
		if !ok || err != nil {
			t.Fatalf("%s: another key: %v, %v", name, ok, err)
		}
		other()
	}
	release()
	release()
	again, ok, err := b.Try([32]byte{1})
	if !ok || err != nil {
		t.Errorf("a key that was released: %v, %v", ok, err)
	}
	release() // of an earlier time: it must not release this one
	if _, ok, _ := a.Try([32]byte{1}); ok {
		t.Error("a key is released by who has it no more")
	}
	again()
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Error(err)
	}
}

// Who can open a lock file can hold the lock: that is a group where its directory is a
// group's.
func TestModeOfFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this platform has no file modes")
	}
	for mode, want := range map[os.FileMode]os.FileMode{0o700: 0o600, 0o755: 0o600, 0o770: 0o660, 0o777: 0o600} {
		dir := t.TempDir()
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		l := try1(t, filepath.Join(dir, "lock"))
		info, err := os.Stat(filepath.Join(dir, "lock"))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("in a directory of mode %o: %v, %v; want %o", mode, info.Mode(), err, want)
		}
		if entries, err := os.ReadDir(dir); len(entries) != 1 || err != nil {
			t.Errorf("left are %v, %v", entries, err)
		}
		l.Close()
	}
}

// A link never names the locked file: Try reports it, and does not look for ever.
func TestLink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	target := path + "-target"
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err)
	}
	for _, existing := range []bool{false, true} {
		if existing {
			if err := os.WriteFile(target, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Try(path); err == nil {
			t.Error("it locks a link")
		}
		if _, err := os.Stat(target); !existing && err == nil {
			t.Error("it makes the target of a link")
		}
	}
}
