package cache

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// past is long enough before now for every clock.
const past = 10 * time.Second

// write makes a file that was last changed a while ago, as far as a test can:
// its status is always changed now.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// later is a time at which all that is on the disk has settled.
func later() time.Time { return time.Now().Add(past) }

func TestSnapshotSeesEveryChange(t *testing.T) {
	changes := map[string]func(dir string) error{
		"content":            func(d string) error { return os.WriteFile(d+"/sub/file", []byte("other"), 0o644) },
		"content, same size": func(d string) error { return os.WriteFile(d+"/sub/file", []byte("abd"), 0o644) },
		"touched":            func(d string) error { return os.Chtimes(d+"/sub/file", time.Now(), time.Unix(1, 0)) },
		"mtime put back": func(d string) error {
			fi, err := os.Stat(d + "/sub/file")
			if err != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond)
			return errors.Join(os.WriteFile(d+"/sub/file", []byte("abd"), 0o644), os.Chtimes(d+"/sub/file", fi.ModTime(), fi.ModTime()))
		},
		"mode":     func(d string) error { return os.Chmod(d+"/sub/file", 0o755) },
		"removed":  func(d string) error { return os.Remove(d + "/sub/file") },
		"replaced": func(d string) error { write(t, d+"/x", "abc"); return os.Rename(d+"/x", d+"/sub/file") },
		"by a link": func(d string) error {
			return errors.Join(os.Rename(d+"/sub/file", d+"/elsewhere"), os.Symlink("../elsewhere", d+"/sub/file"))
		},
		"added":             func(d string) error { return os.WriteFile(d+"/sub/new", nil, 0o644) },
		"absent appears":    func(d string) error { return os.WriteFile(d+"/absent", nil, 0o644) },
		"link retargeted":   func(d string) error { return errors.Join(os.Remove(d+"/link"), os.Symlink("other", d+"/link")) },
		"directory swapped": func(d string) error { return errors.Join(os.Rename(d+"/sub", d+"/was"), os.Mkdir(d+"/sub", 0o755)) },
		"target of the link": func(d string) error {
			return os.WriteFile(d+"/target", []byte("other"), 0o644)
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir+"/sub/file", "abc")
			write(t, dir+"/target", "target")
			write(t, dir+"/other", "target")
			if err := os.Symlink("target", dir+"/link"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond) // the next change is in another tick
			s, err := TakeSnapshot([]Look{{Path: dir + "/sub/file"}, {Path: dir + "/sub"}, {Path: dir + "/absent"}, {Path: dir + "/absent/deeper"},
				{Path: dir + "/link"}, {Path: dir + "/link", Follow: true}}, later())
			if err != nil {
				t.Fatal(err)
			}
			if s, err = DecodeSnapshot(bytes.Join(s.Parts(), nil)); err != nil {
				t.Fatal(err)
			}
			if path := s.Changed(context.Background()); path != "" {
				t.Fatalf("%s has changed by itself", path)
			}
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
			if s.Changed(context.Background()) == "" {
				t.Error("nothing was noticed")
			}
		})
	}
}

// Whatever changed a moment before, or has a time to come, cannot be told from
// what changes right after it; of files with a digest, the bytes decide.
func TestSnapshotOfWhatIsUnsettled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	write(t, path, "abc")
	var unsettled *UnsettledError
	if _, err := TakeSnapshot([]Look{{Path: path}}, time.Now()); !errors.As(err, &unsettled) || unsettled.Path != path {
		t.Errorf("a file that was just written: %v", err)
	}
	if _, err := TakeSnapshot([]Look{{Path: path}}, time.Now().Add(-time.Hour)); !errors.As(err, &unsettled) {
		t.Errorf("a file that was written after the beginning: %v", err)
	}
	future := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, future, future); err != nil {
		t.Fatal(err)
	}
	if _, err := TakeSnapshot([]Look{{Path: path}}, later()); !errors.As(err, &unsettled) {
		t.Errorf("a file of the future: %v", err)
	}
	if s, err := TakeSnapshot([]Look{{Path: path, Young: true}}, time.Now()); err != nil || s.Changed(context.Background()) != "" {
		t.Errorf("a file that may be young: %v", err)
	}
	right, wrong := SumBytes([]byte("abc")), SumBytes([]byte("abd"))
	if _, err := TakeSnapshot([]Look{{Path: path, Digest: wrong}}, later()); !errors.As(err, &unsettled) {
		t.Errorf("a file that is another by now: %v", err)
	}
	s, err := TakeSnapshot([]Look{{Path: path, Digest: right}}, later())
	if err != nil {
		t.Fatal(err)
	}
	if path := s.Changed(context.Background()); path != "" {
		t.Errorf("%s has the same bytes", path)
	}
	// Within the same tick, with every time put back: only the bytes tell.
	write(t, path, "abd")
	if err := os.Chtimes(path, future, future); err != nil {
		t.Fatal(err)
	}
	if s.Changed(context.Background()) == "" {
		t.Error("other bytes were not noticed")
	}
}

func TestSnapshotLetsBytesDecide(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "abc")
	s, err := TakeSnapshot([]Look{{Path: path, Digest: SumBytes([]byte("abc"))}}, later())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if path := s.Changed(context.Background()); path != "" {
		t.Errorf("%s was only touched", path)
	}
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if s.Changed(context.Background()) == "" {
		t.Error("another mode was not noticed")
	}
}

// Every bit of a saved snapshot counts.
func TestSnapshotDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "abc")
	s, err := TakeSnapshot([]Look{{Path: path, Digest: SumBytes([]byte("abc"))}, {Path: "/no/such/place"}}, later())
	if err != nil {
		t.Fatal(err)
	}
	saved := bytes.Join(s.Parts(), nil)
	for i := range len(saved) * 8 {
		damaged := slices.Clone(saved)
		damaged[i/8] ^= 1 << (i % 8)
		if _, err := DecodeSnapshot(damaged); err == nil {
			t.Fatalf("bit %d was flipped, and nobody noticed", i)
		}
	}
	for n := range saved {
		if _, err := DecodeSnapshot(saved[:n]); err == nil {
			t.Fatalf("%d of %d bytes were taken for all", n, len(saved))
		}
	}
	if _, err := DecodeSnapshot(append(saved, 0)); err == nil {
		t.Error("a byte too many was not noticed")
	}
}

func FuzzSnapshot(f *testing.F) {
	s, err := TakeSnapshot([]Look{{Path: "/no/such/place"}, {Path: "/nor/this", Follow: true}}, later())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Join(s.Parts(), nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := DecodeSnapshot(b); err == nil {
			s.Changed(t.Context())
		}
	})
}
