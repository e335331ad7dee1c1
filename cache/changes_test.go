package cache

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"
	"time"
)

// Of a directory that is listed, names and kinds decide; of a path that is only
// asked for, what stands there.
func TestSnapshotLooksNoCloserThanAsked(t *testing.T) {
	for name, try := range map[string]struct {
		change func(dir string) error
		same   bool
	}{
		"made and removed": {change: func(d string) error {
			return errors.Join(os.WriteFile(d+"/sub/x", nil, 0o644), os.Remove(d+"/sub/x"))
		}, same: true},
		"content":         {change: func(d string) error { return os.WriteFile(d+"/sub/file", []byte("other"), 0o644) }, same: true},
		"added":           {change: func(d string) error { return os.WriteFile(d+"/sub/x", nil, 0o644) }},
		"of another kind": {change: func(d string) error { return errors.Join(os.Remove(d+"/sub/y"), os.Mkdir(d+"/sub/y", 0o755)) }},
		"renamed":         {change: func(d string) error { return os.Rename(d+"/sub/y", d+"/sub/z") }},
		"another directory": {change: func(d string) error {
			return errors.Join(os.Rename(d+"/sub", d+"/was"), os.CopyFS(d+"/sub", os.DirFS(d+"/was")))
		}},
		"another file":     {change: func(d string) error { return errors.Join(os.Rename(d+"/other", d+"/one")) }},
		"retargeted":       {change: func(d string) error { return errors.Join(os.Remove(d+"/link"), os.Symlink("other", d+"/link")) }},
		"no longer absent": {change: func(d string) error { return os.WriteFile(d+"/absent", nil, 0o644) }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range []string{"sub/file", "sub/y", "one", "other"} {
				write(t, dir+"/"+file, "abc")
			}
			if err := os.Symlink("one", dir+"/link"); err != nil {
				t.Fatal(err)
			}
			s, err := TakeSnapshot([]Look{{Path: dir + "/sub", Listing: true}, {Path: dir + "/sub", Exists: true, Follow: true}, {Path: dir + "/sub/file", Exists: true},
				{Path: dir + "/one", Exists: true}, {Path: dir + "/link", Exists: true, Follow: true}, {Path: dir + "/absent", Exists: true}}, later())
			if err != nil {
				t.Fatal(err)
			}
			if s, err = DecodeSnapshot(bytes.Join(s.Parts(), nil)); err != nil {
				t.Fatal(err)
			}
			if err := try.change(dir); err != nil {
				t.Fatal(err)
			}
			if got := s.Changed(t.Context()); (got == "") != try.same {
				t.Errorf("changed: %q", got)
			}
		})
	}
}

func TestSnapshotChanges(t *testing.T) {
	dir := t.TempDir()
	files := []string{dir + "/a", dir + "/b", dir + "/c"}
	digest := SumBytes([]byte("abc"))
	var looks []Look
	for _, path := range files {
		write(t, path, "abc")
		looks = append(looks, Look{Path: path, Digest: digest}, Look{Path: path, Exists: true}, Look{Path: path, Exists: true, Follow: true})
	}
	write(t, dir+"/strict", "abc")
	looks = append(looks, Look{Path: dir + "/strict", Follow: true})
	s, err := TakeSnapshot(looks, later())
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != len(files)+1 {
		t.Errorf("%d looks are kept", s.Len())
	}
	expect := func(limit int, other string, want ...string) {
		t.Helper()
		c := s.Changes(t.Context(), limit)
		if c.Other != other || other == "" && !slices.Equal(c.Files, want) {
			t.Errorf("changed: %q; want %q, %q", c, want, other)
		}
	}
	expect(3, "")
	write(t, files[2], "another")
	expect(3, "", files[2])
	if err := os.Chmod(files[0], 0o755); err != nil {
		t.Fatal(err)
	}
	expect(3, "", files[0], files[2])
	if c := s.Changes(t.Context(), 1); c.Other == "" {
		t.Errorf("two of at most one: %q", c)
	}

	var unsettled *UnsettledError
	if _, err := TakeSnapshot([]Look{{Path: files[1], Digest: SumBytes([]byte("abd"))}}, time.Now()); !errors.As(err, &unsettled) {
		t.Errorf("of bytes that are not there: %v", err)
	}
	write(t, dir+"/strict", "abd")
	expect(3, dir+"/strict")
	write(t, dir+"/strict", "abc")
	for _, path := range []string{files[0], files[2]} {
		if err := errors.Join(os.Remove(path), os.Symlink("b", path)); err != nil {
			t.Fatal(err)
		}
	}
	if c := s.Changes(t.Context(), 3); c.Other == "" {
		t.Errorf("links in place of files: %q", c)
	}
}
