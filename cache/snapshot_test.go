package cache

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// write makes a file with its directories.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// settled returns sightings at a time when all files are stable.
func settled(probes ...Probe) []Sighting {
	all := make([]Sighting, len(probes))
	for i, p := range probes {
		all[i] = p.Sight()
		all[i].at = time.Now().Add(time.Minute).UnixNano()
	}
	return all
}

// tick waits until the clock that stamps files has moved on.
func tick(t *testing.T, dir string) {
	t.Helper()
	stamp := func() int64 {
		write(t, dir+"/tick", "")
		s, err := lookAt([]byte(dir+"/tick\x00"), false)
		if err != nil {
			t.Fatal(err)
		}
		return s.ctime
	}
	for began := stamp(); stamp() == began; {
	}
}

func TestSnapshotSeesEveryChange(t *testing.T) {
	changes := map[string]func(t *testing.T, dir string) error{
		"content": func(_ *testing.T, d string) error { return os.WriteFile(d+"/sub/file", []byte("other"), 0o644) },
		"content, same size": func(_ *testing.T, d string) error {
			return os.WriteFile(d+"/sub/file", []byte("abd"), 0o644)
		},
		"touched": func(_ *testing.T, d string) error { return os.Chtimes(d+"/sub/file", time.Now(), time.Unix(1, 0)) },
		"mtime put back": func(t *testing.T, d string) error {
			fi, err := os.Stat(d + "/sub/file")
			if err != nil {
				return err
			}
			tick(t, t.TempDir())
			return errors.Join(os.WriteFile(d+"/sub/file", []byte("abd"), 0o644), os.Chtimes(d+"/sub/file", fi.ModTime(), fi.ModTime()))
		},
		"mode":    func(_ *testing.T, d string) error { return os.Chmod(d+"/sub/file", 0o755) },
		"removed": func(_ *testing.T, d string) error { return os.Remove(d + "/sub/file") },
		"replaced": func(t *testing.T, d string) error {
			write(t, d+"/x", "abc")
			return os.Rename(d+"/x", d+"/sub/file")
		},
		"by a link": func(_ *testing.T, d string) error {
			return errors.Join(os.Rename(d+"/sub/file", d+"/elsewhere"), os.Symlink("../elsewhere", d+"/sub/file"))
		},
		"added":          func(_ *testing.T, d string) error { return os.WriteFile(d+"/sub/new", nil, 0o644) },
		"absent appears": func(_ *testing.T, d string) error { return os.WriteFile(d+"/absent", nil, 0o644) },
		"link retargeted": func(_ *testing.T, d string) error {
			return errors.Join(os.Remove(d+"/link"), os.Symlink("other", d+"/link"))
		},
		"directory swapped": func(_ *testing.T, d string) error {
			return errors.Join(os.Rename(d+"/sub", d+"/was"), os.Mkdir(d+"/sub", 0o755))
		},
		"target of the link": func(_ *testing.T, d string) error { return os.WriteFile(d+"/target", []byte("other"), 0o644) },
		"added behind a link to a directory": func(_ *testing.T, d string) error {
			return os.WriteFile(d+"/linked/new", nil, 0o644)
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for path, content := range map[string]string{"sub/file": "abc", "target": "target", "other": "target", "linked/old": ""} {
				write(t, filepath.Join(dir, path), content)
			}
			if err := errors.Join(os.Symlink("target", dir+"/link"), os.Symlink("linked", dir+"/through")); err != nil {
				t.Fatal(err)
			}
			tick(t, t.TempDir()) // the next change has another time
			s, err := TakeSnapshot(settled(Probe{Path: dir + "/sub/file"}, Probe{Path: dir + "/sub"}, Probe{Path: dir + "/absent"}, Probe{Path: dir + "/absent/deeper"},
				Probe{Path: dir + "/link"}, Probe{Path: dir + "/link", Follow: true}, Probe{Path: dir + "/through", Listing: true}))
			if err != nil {
				t.Fatal(err)
			}
			if s, err = DecodeSnapshot(s.Encode()); err != nil {
				t.Fatal(err)
			}
			if path := s.Changed(); path != "" {
				t.Fatalf("%s has changed by itself", path)
			}
			if err := change(t, dir); err != nil {
				t.Fatal(err)
			}
			if s.Changed() == "" {
				t.Error("unchanged")
			}
		})
	}
}

// TestSnapshotOfMovingPaths: files that were replaced between the sighting and the snapshot are not recorded, however
// old their replacements are.
func TestSnapshotOfMovingPaths(t *testing.T) {
	for name, exchange := range map[string]func(dir string) error{
		"a directory above": func(d string) error {
			return errors.Join(os.Rename(d+"/a", d+"/was"), os.Rename(d+"/b", d+"/a"))
		},
		"a link above": func(d string) error {
			return errors.Join(os.Remove(d+"/l"), os.Symlink("b", d+"/l"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir+"/a/file", "one")
			write(t, dir+"/b/file", "two")
			if err := os.Symlink("a", dir+"/l"); err != nil {
				t.Fatal(err)
			}
			var seen []Sighting
			for _, path := range []string{dir + "/a/file", dir + "/l/file"} {
				info, err := os.Lstat(path)
				if err != nil {
					t.Fatal(err)
				}
				seen = append(seen, SightFile(path, info, time.Now().Add(time.Minute), SumBytes([]byte("one"))))
			}
			if _, err := TakeSnapshot(seen); err != nil {
				t.Fatal(err)
			}
			if err := exchange(dir); err != nil {
				t.Fatal(err)
			}
			var changed *ChangedError
			if _, err := TakeSnapshot(seen); !errors.As(err, &changed) {
				t.Errorf("got %v, want a path that changed", err)
			}
		})
	}
}

func TestSnapshotOfYoungPaths(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/file", "abc")
	info, err := os.Lstat(dir + "/file")
	if err != nil {
		t.Fatal(err)
	}
	var unsettled *UnsettledError
	if _, err := TakeSnapshot([]Sighting{Probe{Path: dir + "/file"}.Sight()}); !errors.As(err, &unsettled) {
		t.Errorf("a file that was just written was recorded by its state: %v", err)
	}
	if _, err := TakeSnapshot([]Sighting{Probe{Path: dir + "/file", Exists: true}.Sight()}); err != nil {
		t.Errorf("a file with only an identity was not recorded: %v", err)
	}
	s, err := TakeSnapshot([]Sighting{SightFile(dir+"/file", info, time.Now(), SumBytes([]byte("abc")))})
	if err != nil {
		t.Fatal(err)
	}
	if path := s.Changed(); path != "" {
		t.Errorf("%s has changed by itself", path)
	}
	write(t, dir+"/file", "abd")
	if s.Changed() == "" {
		t.Error("the bytes do not decide about a file that was young")
	}
}

func FuzzSnapshot(f *testing.F) {
	s, err := TakeSnapshot(settled(Probe{Path: f.TempDir()}, Probe{Path: "/nowhere"}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s.Encode())
	f.Fuzz(func(_ *testing.T, b []byte) {
		if s, err := DecodeSnapshot(b); err == nil {
			for i := range s.Len() {
				s.path(s.table[i*recordSize:])
			}
		}
	})
}

// The executable bit counts even if the content does not.
func TestSnapshotOfExecutableBits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such bits")
	}
	dir := t.TempDir()
	write(t, dir+"/file", "abc")
	s, err := TakeSnapshot([]Sighting{Probe{Path: dir + "/file", Follow: true, Exists: true}.Sight()})
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/file", "another")
	if path := s.Changed(); path != "" {
		t.Errorf("%s has changed, although only its content did", path)
	}
	if err := os.Chmod(dir+"/file", 0o755); err != nil {
		t.Fatal(err)
	}
	if s.Changed() == "" {
		t.Error("a program that can be started now went unnoticed")
	}
}
