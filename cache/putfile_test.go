//go:build unix

package cache

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

type fileStore interface {
	Store
	PutFile(ctx context.Context, path string, want *Digest) (Digest, error)
}

func TestPutFile(t *testing.T) {
	for name, s := range map[string]fileStore{"disk": openDisk(t), "memory": NewMemory()} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			overwriteNew(t, path, "now")
			was, now := SumBytes([]byte("was")), SumBytes([]byte("now"))
			var changed *ChangedError
			if _, err := s.PutFile(t.Context(), path, &was); !errors.As(err, &changed) || changed.Path != path {
				t.Errorf("PutFile of other bytes = %v; want a ChangedError", err)
			}
			for _, g := range []Digest{was, now} {
				if ok, _ := s.Has(t.Context(), g); ok {
					t.Errorf("%s was stored all the same", g)
				}
			}
			putBytes(t, s, []byte("was"))
			if _, err := s.PutFile(t.Context(), path, &was); !errors.As(err, &changed) {
				t.Errorf("PutFile of other bytes, digest known = %v; want a ChangedError", err)
			}
			for _, want := range []*Digest{&now, nil} {
				if g, err := s.PutFile(t.Context(), path, want); g != now || err != nil {
					t.Errorf("PutFile = %s, %v; want %s", g, err, now)
				}
			}
			if b, err := ReadBlob(t.Context(), s, now, -1); string(b) != "now" || err != nil {
				t.Errorf("ReadBlob = %q, %v", b, err)
			}
		})
	}
}

func TestPutFileRefuses(t *testing.T) {
	dir := t.TempDir()
	overwriteNew(t, filepath.Join(dir, "f"), "x")
	if err := os.Symlink("f", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := openDisk(t)
	for _, name := range []string{".", "link", "fifo"} {
		if _, err := d.PutFile(t.Context(), filepath.Join(dir, name), nil); err == nil || !strings.Contains(err.Error(), "regular") {
			t.Errorf("PutFile(%s) = %v; want: not a regular file", name, err)
		}
	}
	if _, err := d.PutFile(t.Context(), filepath.Join(dir, "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("PutFile of nothing = %v", err)
	}
}

// A file that is written while it is read is never a source.
func TestSourceCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for name, change := range map[string]func() error{
		"grown":   func() error { return os.WriteFile(path, []byte("longer than before"), 0o644) },
		"shrunk":  func() error { return os.Truncate(path, 1) },
		"touched": func() error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) },
	} {
		overwriteNew(t, path, "before")
		src, err := openSource(path)
		if err != nil {
			t.Fatal(err)
		}
		g, err := sum(t.Context(), nil, src)
		if err != nil {
			t.Fatal(err)
		}
		if err := src.check(g, nil); err != nil {
			t.Errorf("%s: unchanged so far, but %v", name, err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		var changed *ChangedError
		if err := src.check(g, nil); !errors.As(err, &changed) {
			t.Errorf("%s: %v; want a ChangedError", name, err)
		}
		src.Close()
	}
}
