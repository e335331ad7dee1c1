package parcel

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
)

// carried holds the transferred data: pieces in a directory, and contents in memory.
type carried struct {
	pieces  map[cache.Digest]string
	content map[cache.Digest][]byte
}

func (c *carried) Piece(d cache.Digest) (io.ReadCloser, error) { return os.Open(c.pieces[d]) }

func (c *carried) Content(d cache.Digest) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(c.content[d])), nil
}

// send packs a directory, and unpacks it into another.
func (c *carried) send(t *testing.T, from string, o Options) (to string, x *Index) {
	t.Helper()
	root := openRoot(t, from)
	dir := t.TempDir()
	o.Parts = []string{"work"}
	x, err := Pack(root, NewPieces(dir), o)
	if err != nil {
		t.Fatal(err)
	}
	before := 0
	if o.Before != nil {
		before = len(o.Before.Pieces)
	}
	for i, d := range x.Pieces[before:] {
		c.pieces[d] = NewPieces(dir).name(i)
		content, err := os.ReadFile(c.pieces[d])
		if err != nil || cache.SumBytes(content) != d || len(content) > PieceSize {
			t.Errorf("piece %d does not match its digest, or has %d bytes: %v", i, len(content), err)
		}
	}
	to = t.TempDir()
	if err := Restore(openRoot(t, to), x, c); err != nil {
		t.Fatal(err)
	}
	return to, x
}

func openRoot(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func write(t *testing.T, name, content string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

// state returns everything about a file that a parcel carries.
func state(t *testing.T, name string) string {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	text := info.Mode().String() + " " + info.ModTime().UTC().Format(time.RFC3339Nano)
	if info.Mode().IsRegular() {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text += " " + cache.SumBytes(content).String()
	}
	return text
}

func TestParcel(t *testing.T) {
	from := t.TempDir()
	work := filepath.Join(from, "work")
	old := time.Date(2001, 2, 3, 4, 5, 6, 789, time.UTC)
	names := []string{"plain", "no\xfftext", "new\nline", "d/set", "d/empty", "large", "half/open", "sticky"}
	write(t, filepath.Join(work, "plain"), "plain", 0o640)
	write(t, filepath.Join(work, "no\xfftext"), "text", 0o600)
	write(t, filepath.Join(work, "new\nline"), "line", 0o644)
	write(t, filepath.Join(work, "d/set"), "set", 0o755|fs.ModeSetuid)
	write(t, filepath.Join(work, "d/empty"), "", 0o444)
	write(t, filepath.Join(work, "large"), strings.Repeat("0123456789", PieceSize/4), 0o644)
	write(t, filepath.Join(work, "half/open"), "half", 0o644)
	if err := os.Mkdir(filepath.Join(work, "sticky"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Chmod(filepath.Join(work, "sticky"), 0o1777&fs.ModePerm|fs.ModeSticky), os.Symlink("/etc/passwd", filepath.Join(work, "link")),
		os.Link(filepath.Join(work, "plain"), filepath.Join(work, "again")), syscall.Mkfifo(filepath.Join(work, "pipe"), 0o600), syscall.Mknod(filepath.Join(work, "socket"), syscall.S_IFSOCK|0o600, 0),
		os.Chtimes(filepath.Join(work, "plain"), old, old), os.Chtimes(filepath.Join(work, "half"), old, old),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{}
	for _, name := range append(names, "half", "pipe", "socket", "again") {
		want[name] = state(t, filepath.Join(work, name))
	}
	c := &carried{pieces: map[cache.Digest]string{}, content: map[cache.Digest][]byte{}}
	to, x := c.send(t, from, Options{})
	check := func(to string) {
		t.Helper()
		for name, was := range want {
			if is := state(t, filepath.Join(to, "work", name)); is != was {
				t.Errorf("%q is %s and was %s", name, is, was)
			}
		}
		if target, err := os.Readlink(filepath.Join(to, "work", "link")); target != "/etc/passwd" || err != nil {
			t.Errorf("the link leads to %q, %v", target, err)
		}
		if info, err := os.Stat(filepath.Join(to, "work", "again")); err != nil || info.Sys().(*syscall.Stat_t).Nlink != 2 {
			t.Errorf("not a hard link: %v", err)
		}
	}
	check(to)

	// Unchanged files are not packed again.
	write(t, filepath.Join(to, "work", "added"), "added", 0o644)
	want["added"] = state(t, filepath.Join(to, "work", "added"))
	to, second := c.send(t, to, Options{Before: x})
	check(to)
	if added := second.Pieces[len(x.Pieces):]; len(added) != 1 || added[0].Size != 5 {
		t.Errorf("5 bytes were added and %v packed", added)
	}

	// Files that the other machine has are sent as references.
	known := cache.SumBytes([]byte("added"))
	c.content[known] = []byte("added")
	to, third := c.send(t, to, Options{Known: func(d cache.Digest) bool { return d == known }})
	check(to)
	if e := third.Find("work/added"); e == nil || e.Piece != -1 {
		t.Errorf("what is known was packed: %+v", e)
	}
}

// Files beyond the limit are omitted and reported.
func TestLimit(t *testing.T) {
	from := t.TempDir()
	write(t, filepath.Join(from, "work", "a"), "12345", 0o644)
	write(t, filepath.Join(from, "work", "b"), strings.Repeat("x", 1000), 0o644)
	write(t, filepath.Join(from, "work", "c"), "6", 0o644)
	c := &carried{pieces: map[cache.Digest]string{}}
	to, x := c.send(t, from, Options{Limit: 10})
	if x.OmittedBytes != 1000 || x.OmittedEntries != 1 {
		t.Errorf("%d bytes of %d files were left out", x.OmittedBytes, x.OmittedEntries)
	}
	for name, there := range map[string]bool{"a": true, "b": false, "c": true} {
		if _, err := os.Lstat(filepath.Join(to, "work", name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Damaged pieces are errors, and no file escapes from the unpacked directory.
func TestDamage(t *testing.T) {
	from := t.TempDir()
	write(t, filepath.Join(from, "work", "a"), "content", 0o644)
	c := &carried{pieces: map[cache.Digest]string{}}
	_, x := c.send(t, from, Options{})
	for _, path := range c.pieces {
		if err := os.WriteFile(path, []byte("CONTENT"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := Restore(openRoot(t, t.TempDir()), x, c); err == nil {
		t.Error("damaged content was unpacked")
	}
	outside := t.TempDir()
	for _, entries := range [][]Entry{
		{{Path: "../x", Piece: -1}}, {{Path: "/x", Piece: -1}}, {{Path: "a/../../x", Piece: -1}}, {{Path: "", Piece: -1}},
		{{Path: "l", Kind: Symlink, Target: outside}, {Path: "l/x", Piece: -1}},
	} {
		if err := Restore(openRoot(t, t.TempDir()), &Index{Entries: entries}, c); err == nil {
			t.Errorf("%+v was unpacked", entries)
		}
	}
	if left, err := os.ReadDir(outside); len(left) > 0 || err != nil {
		t.Errorf("outside are %v, %v", left, err)
	}
}
