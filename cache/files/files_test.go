package files

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestReadFile reads files of the size that Stat reports, and files whose size it does not report, such as those in
// /proc.
func TestReadFile(t *testing.T) {
	for _, size := range []int{0, 1, 511, 512, 100_000} {
		for _, reported := range []int64{int64(size), 0} {
			path := filepath.Join(t.TempDir(), "file")
			want := bytes.Repeat([]byte("x"), size)
			if err := os.WriteFile(path, want, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := ReadFile(sizes{OS, reported}, path)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %d according to Stat: read %d, %v", size, reported, len(got), err)
			}
		}
	}
	if _, err := ReadFile(OS, filepath.Join(t.TempDir(), "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := ReadFile(OS, t.TempDir()); err == nil {
		t.Error("a directory is read")
	}
}

// sizes is a System whose files report another size.
type sizes struct {
	System
	size int64
}

func (s sizes) OpenFile(path string, flag int, perm fs.FileMode) (File, error) {
	f, err := s.System.OpenFile(path, flag, perm)
	return sized{f, s.size}, err
}

type sized struct {
	File
	size int64
}

func (f sized) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return otherSize{info, f.size}, err
}

type otherSize struct {
	fs.FileInfo
	size int64
}

func (i otherSize) Size() int64 { return i.size }

func TestCreateTemp(t *testing.T) {
	dir := t.TempDir()
	names := map[string]bool{}
	for range 3 {
		f, err := CreateTemp(&taken{System: OS, times: 2}, dir, "blob")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("text")); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if base := filepath.Base(f.Name()); !strings.HasPrefix(base, "blob-") || names[base] {
			t.Errorf("name %s", base)
		}
		names[filepath.Base(f.Name())] = true
		if info, err := os.Stat(f.Name()); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v: others can read it", info.Mode(), err)
		}
	}
	if _, err := CreateTemp(OS, filepath.Join(dir, "missing"), "blob"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a missing directory: %v", err)
	}
}

// taken is a System where the first names exist already.
type taken struct {
	System
	times int
}

func (s *taken) OpenFile(path string, flag int, perm fs.FileMode) (File, error) {
	if s.times--; s.times >= 0 {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrExist}
	}
	return s.System.OpenFile(path, flag, perm)
}

func TestMkdir(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dir")
	if err := OS.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := OS.Mkdir(path, 0o700); err != nil {
		t.Errorf("a directory that exists: %v", err)
	}
	// The umask does not apply to the mode, and the second call does not change it.
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o777 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := OS.Mkdir(filepath.Join(path, "a", "b"), 0o700); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("below a missing directory: %v", err)
	}
}

func TestTouch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f, err := OS.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "text"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	want := time.Unix(1_000_000_000, 0)
	if err := OS.Touch(path, want); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || !info.ModTime().Equal(want) {
		t.Errorf("modified at %v, %v", info.ModTime(), err)
	}
}

// TestNoFile checks that an error comes with a nil File, and not with a nil *os.File in it.
func TestNoFile(t *testing.T) {
	f, err := Open(OS, filepath.Join(t.TempDir(), "missing"))
	if f != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v", f, err)
	}
}
