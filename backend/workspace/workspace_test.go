//go:build unix

package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Placed files and their new parents belong to the owner; existing files and targets of symlinks are not changed.
func TestOwner(t *testing.T) {
	owner := workspace.Owner{UID: os.Geteuid(), GID: os.Getegid()}
	if owner.UID == 0 {
		owner = workspace.Owner{UID: 4321, GID: 8765}
	}
	store := cache.NewMemory()
	content, err := cache.PutBytes(t.Context(), store, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tree, err := cache.BuildTree([]cache.Entry{
		{Path: "d/f", Digest: content}, {Path: "out", Link: outside}, {Path: "empty", Dir: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Store(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(t.TempDir(), workspace.NewID())
	w, err := workspace.Make(base, store, &owner)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	stranger := filepath.Join(w.Work(), "stranger")
	if err := os.WriteFile(stranger, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err = w.Place(t.Context(), backend.Input{Path: "a/b", Tree: tree.Root}, backend.Input{Path: "c/note", Content: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"work", "home", "tmp", "work/a", "work/a/b", "work/a/b/d", "work/a/b/d/f", "work/a/b/out", "work/a/b/empty", "work/c", "work/c/note"} {
		if got := fileOwner(t, filepath.Join(base, name)); got != owner {
			t.Errorf("%s belongs to %v, want %v", name, got, owner)
		}
	}
	caller := workspace.Owner{UID: os.Geteuid(), GID: os.Getegid()}
	for _, name := range []string{base, stranger, outside} {
		if got := fileOwner(t, name); got != caller {
			t.Errorf("%s belongs to %v, want %v", name, got, caller)
		}
	}
}

func fileOwner(t *testing.T, name string) workspace.Owner {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	stat := info.Sys().(*syscall.Stat_t)
	return workspace.Owner{UID: int(stat.Uid), GID: int(stat.Gid)}
}

func TestMakeTakesNothingOver(t *testing.T) {
	base := t.TempDir()
	if _, err := workspace.Make(base, cache.NewMemory(), nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
}

func TestIsBase(t *testing.T) {
	id := workspace.NewID()
	for _, test := range []struct {
		base, id string
		want     bool
	}{
		{"/scratch/" + id, id, true},
		{"/scratch", id, false},
		{"scratch/" + id, id, false},
		{"/", "", false},
		{"/home/x", "x", false},
	} {
		if got := workspace.IsBase(test.base, test.id); got != test.want {
			t.Errorf("%q of %q: %v", test.base, test.id, got)
		}
	}
}

func TestRemoveOfNothing(t *testing.T) {
	if err := workspace.Remove(filepath.Join(t.TempDir(), "absent")); err != nil {
		t.Error(err)
	}
}

// Another user can have created the directory, or a link at its path.
func TestScratchOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make what belongs to others")
	}
	own := t.TempDir()
	for name, make := range map[string]func(path string) error{
		"directory": func(path string) error {
			return errors.Join(os.Mkdir(path, 0o700), os.Chown(path, 12345, 12345))
		},
		"link to own directory": func(path string) error {
			return errors.Join(os.Symlink(own, path), os.Lchown(path, 12345, 12345))
		},
		"link to another user's directory": func(path string) error {
			theirs := path + " there"
			return errors.Join(os.Mkdir(theirs, 0o700), os.Chown(theirs, 12345, 12345), os.Symlink(theirs, path))
		},
		"their parent": func(path string) error { return os.Chown(filepath.Dir(path), 12345, 12345) },
		"their grandparent": func(path string) error {
			return os.Chown(filepath.Dir(filepath.Dir(path)), 12345, 12345)
		},
		"their sticky parent": func(path string) error {
			return errors.Join(os.Chmod(filepath.Dir(path), 0o777|os.ModeSticky), os.Chown(filepath.Dir(path), 12345, 12345))
		},
		"file":        func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"open parent": func(path string) error { return os.Chmod(filepath.Dir(path), 0o777) },
	} {
		path := filepath.Join(t.TempDir(), "parent", "scratch")
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), make(path)); err != nil {
			t.Fatal(err)
		}
		if got, err := workspace.Scratch(path); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
	open := filepath.Join(t.TempDir(), "open")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	if _, err := workspace.Scratch(open); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(open); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
}
