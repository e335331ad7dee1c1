package cache

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// shelfOf stores a small tree and returns the shelf that it is on.
func shelfOf(t *testing.T, d *Disk) (root Digest, s *Shelf) {
	t.Helper()
	root = storeTree(t, d, Entry{Path: "bin/run", Executable: true}, Entry{Path: "data"}, Entry{Path: "link", Link: "data"}, Entry{Path: "none", Dir: true})
	return root, openedShelf(t, d, root)
}

func openedShelf(t *testing.T, s Shelver, root Digest) *Shelf {
	t.Helper()
	shelf, err := s.Shelf(t.Context(), root, "work/assets")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shelf.Close() })
	return shelf
}

var onShelf = map[string]string{
	".": "drwxr-xr-x", "work": "drwxr-xr-x", "work/assets": "drwxr-xr-x",
	"work/assets/bin": "drwxr-xr-x", "work/assets/bin/run": "-rwxr-xr-x bin/run",
	"work/assets/data": "-rw-r--r-- data", "work/assets/link": "-> data", "work/assets/none": "drwxr-xr-x",
}

func wantShelf(t *testing.T, s *Shelf) {
	t.Helper()
	if got := placed(t, s.Tree()); !equalMaps(got, onShelf) {
		t.Errorf("on the shelf is %q\nwant %q", got, onShelf)
	}
	if err := s.Unchanged(); err != nil {
		t.Error(err)
	}
}

func TestShelf(t *testing.T) {
	d := openDisk(t)
	root, first := shelfOf(t, d)
	wantShelf(t, first)
	if again := openedShelf(t, d, root); again.Tree() != first.Tree() {
		t.Errorf("a second one is at %s", again.Tree())
	}
	elsewhere, err := d.Shelf(t.Context(), root, ".")
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	if _, err := os.Stat(filepath.Join(elsewhere.Tree(), "data")); err != nil || elsewhere.Tree() == first.Tree() {
		t.Errorf("in another place: %v", err)
	}
	if _, err := d.Shelf(t.Context(), root, "../x"); err == nil {
		t.Error("a place outside was taken")
	}
	upper, err := OpenDisk(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if of := openedShelf(t, &Layered{Upper: upper, Lower: d}, root); filepath.Dir(filepath.Dir(filepath.Dir(of.Tree()))) != upper.ShelvesDir() {
		t.Errorf("that of a layered store is at %s", of.Tree())
	}
}

// Whatever is done to a shelf, or to what is known of it, the next one to ask gets
// a good one, and who has it is told.
func TestShelfDamaged(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(s *Shelf) error
		quiet  bool // who has it loses nothing
	}{
		{"a bit, with the time it had", func(s *Shelf) error {
			name := filepath.Join(s.Tree(), "work/assets/data")
			fi, err := os.Stat(name)
			if err != nil {
				return err
			}
			return errors.Join(os.WriteFile(name, []byte("eata"), 0), os.Chtimes(name, fi.ModTime(), fi.ModTime()))
		}, false},
		{"a file is gone", func(s *Shelf) error { return os.Remove(filepath.Join(s.Tree(), "work/assets/bin/run")) }, false},
		{"a file too many", func(s *Shelf) error { return os.WriteFile(filepath.Join(s.Tree(), "work/more"), nil, 0o644) }, false},
		{"a mode", func(s *Shelf) error { return os.Chmod(filepath.Join(s.Tree(), "work/assets/data"), 0o600) }, false},
		{"a link leads elsewhere", func(s *Shelf) error {
			name := filepath.Join(s.Tree(), "work/assets/link")
			return errors.Join(os.Remove(name), os.Symlink("bin", name))
		}, false},
		{"a file is another", func(s *Shelf) error {
			name := filepath.Join(s.Tree(), "work/assets/data")
			return errors.Join(os.WriteFile(name+"2", []byte("data"), 0o644), os.Rename(name+"2", name))
		}, false},
		{"all of it is gone", func(s *Shelf) error { return os.RemoveAll(s.Tree()) }, false},
		{"its record", func(s *Shelf) error {
			return flip(filepath.Join(s.dir, shelfState), int64(len(shelfVersion))+5)
		}, true},
		{"the version of its record", func(s *Shelf) error { return flip(filepath.Join(s.dir, shelfState), 2) }, true},
		{"no record", func(s *Shelf) error { return os.Remove(filepath.Join(s.dir, shelfState)) }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := openDisk(t)
			root, s := shelfOf(t, d)
			if err := test.damage(s); err != nil {
				t.Fatal(err)
			}
			if err := s.Unchanged(); (err == nil) != test.quiet {
				t.Errorf("who has it hears %v", err)
			}
			next := openedShelf(t, d, root)
			if next.Tree() == s.Tree() {
				t.Error("a damaged shelf was handed out")
			}
			wantShelf(t, next)
			// Once nobody has the damaged one, it goes when the next is made.
			s.Close()
			if err := os.Remove(filepath.Join(next.Tree(), "work/assets/data")); err != nil {
				t.Fatal(err)
			}
			next.Close()
			wantShelf(t, openedShelf(t, d, root))
			if left, err := os.ReadDir(filepath.Dir(s.dir)); err != nil || len(left) != 1 {
				t.Errorf("left are %v, %v", left, err)
			}
		})
	}
}

// flip changes one bit of a file that nobody may write to.
func flip(name string, at int64) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	b[at] ^= 1
	return errors.Join(os.Remove(name), os.WriteFile(name, b, 0o444))
}

// A blob that is lost or damaged is no reason for a shelf without it.
func TestShelfOfDamagedBlobs(t *testing.T) {
	d := openDisk(t)
	root := storeTree(t, d, Entry{Path: "a"}, Entry{Path: "b"})
	overwrite(t, d.blobPath(SumBytes([]byte("b"))), []byte("B"))
	var corrupt *CorruptError
	if _, err := d.Shelf(t.Context(), root, "."); !errors.As(err, &corrupt) {
		t.Errorf("got %v, want a *CorruptError", err)
	}
	var missing *MissingError
	if _, err := d.Shelf(t.Context(), root, "."); !errors.As(err, &missing) {
		t.Errorf("then %v, want a *MissingError", err)
	}
	if left := listing(t, d.ShelvesDir()); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	putBytes(t, d, []byte("b"))
	s, err := d.Shelf(t.Context(), root, ".")
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// Several stores on one directory are what several processes have.
func TestShelfMadeOnce(t *testing.T) {
	first := openDisk(t)
	root := storeTree(t, first, Entry{Path: "a"}, Entry{Path: "b"})
	var wait sync.WaitGroup
	trees := make([]string, 8)
	for i := range trees {
		d, err := OpenDisk(first.Dir(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			defer d.Close()
			s, err := d.Shelf(context.Background(), root, "work")
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			trees[i] = s.Tree()
		})
	}
	wait.Wait()
	for _, tree := range trees {
		if tree != trees[0] {
			t.Errorf("shelves at %s and %s", trees[0], tree)
		}
	}
}

// What a process that was killed had begun is removed by the next one.
func TestShelfUnfinished(t *testing.T) {
	d := openDisk(t)
	root := storeTree(t, d, Entry{Path: "a"})
	begun := filepath.Join(d.ShelvesDir(), shelfRecord{root: root, at: "work"}.key().String(), "begun", shelfTree, "work")
	if err := os.MkdirAll(begun, 0o755); err != nil {
		t.Fatal(err)
	}
	overwriteNew(t, filepath.Join(begun, "a"), "half of i")
	s, err := d.Shelf(t.Context(), root, "work")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := listing(t, s.Tree()); !equalMaps(got, map[string]string{"work/a": "a"}) {
		t.Errorf("on the shelf is %v", got)
	}
	if _, err := os.Stat(begun); !os.IsNotExist(err) {
		t.Errorf("what was begun is still there: %v", err)
	}
}

func TestShelfGC(t *testing.T) {
	d := openDisk(t)
	root, s := shelfOf(t, d)
	stray := filepath.Join(d.ShelvesDir(), "trial-1")
	if err := os.Mkdir(stray, 0o755); err != nil {
		t.Fatal(err)
	}
	later := GCOptions{MaxBytes: -1, Now: time.Now().Add(2 * tempAge)}
	soon := GCOptions{MaxBytes: -1, Now: time.Now().Add(gcGrace / 2)}
	gc := func(o GCOptions, want int64) {
		t.Helper()
		r, err := d.GC(t.Context(), o)
		if err != nil || r.Shelves != want || r.Unreadable != 0 {
			t.Errorf("got %+v, %v, want %d shelves removed", r, err, want)
		}
	}
	gc(later, 0) // somebody has it
	wantShelf(t, s)
	if _, err := os.Stat(stray); !os.IsNotExist(err) {
		t.Errorf("a stray directory is still there: %v", err)
	}
	s.Close()
	gc(soon, 0) // somebody had it
	s = openedShelf(t, d, root)
	wantShelf(t, s)
	s.Close()
	later.DryRun = true
	gc(later, 1)
	later.DryRun = false
	gc(later, 1)
	if left, err := os.ReadDir(d.ShelvesDir()); len(left) > 0 || err != nil {
		t.Errorf("left are %v, %v", left, err)
	}
	wantShelf(t, openedShelf(t, d, root))
}

// The budget is for all that the store has.
func TestShelfInBudget(t *testing.T) {
	d := openDisk(t)
	_, s := shelfOf(t, d)
	defer s.Close()
	all, err := d.GC(t.Context(), GCOptions{MaxBytes: -1, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.GC(t.Context(), GCOptions{MaxBytes: all.KeptBytes - 1, Now: time.Now().Add(2 * gcGrace)})
	if err != nil || r.Blobs == 0 {
		t.Errorf("got %+v, %v, want blobs to go for the shelf", r, err)
	}
}

func TestShelfVerify(t *testing.T) {
	d := openDisk(t)
	root, s := shelfOf(t, d)
	verify := func(repair bool, bad int) {
		t.Helper()
		r, err := d.Verify(t.Context(), repair, nil)
		if err != nil || len(r.Corrupt) != bad || len(r.Dangling) > 0 {
			t.Errorf("got %+v, %v, want %d corrupt", r, err, bad)
		}
	}
	verify(false, 0)
	// Nothing looks different in what the disk itself does to a file, as here to
	// one whose record says that it always was so.
	overwriteNew(t, filepath.Join(s.Tree(), "work/assets/data"), "Data")
	layout, err := layoutOf(s.Tree())
	if err != nil {
		t.Fatal(err)
	}
	s.made.layout = layout
	if err := s.made.write(filepath.Join(s.dir, shelfState)); err != nil {
		t.Fatal(err)
	}
	if same := openedShelf(t, d, root); same.Tree() != s.Tree() {
		t.Error("the test shows nothing")
	}
	verify(false, 1)
	verify(true, 1)
	verify(false, 0)
	wantShelf(t, openedShelf(t, d, root))
}
