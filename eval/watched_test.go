package eval

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
)

// watchedFile returns the inputs of a call that read one file.
func watchedFile(t *testing.T) (w *watched, change func()) {
	t.Helper()
	path, n := filepath.Join(t.TempDir(), "file"), 0
	change = func() {
		n++
		if err := os.WriteFile(path, []byte(strconv.Itoa(n)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change()
	w = &watched{named: &cache.Snapshot{}}
	one := cache.Probe{Path: path}.Sight()
	one.Digest = cache.SumBytes([]byte("1"))
	w.see([]cache.Sighting{one})
	return w, change
}

// Changes at short intervals count as one, and endless changes do not block a call.
func TestBurst(t *testing.T) {
	for _, test := range []struct{ changes, least, most int }{
		{0, 1, 2}, // in the first interval the file's time can still be too close to the present
		{3, 4, 5},
		{100, maxBurst, maxBurst},
	} {
		w, change := watchedFile(t)
		change()
		slept := 0
		path, err := w.wait(func(time.Duration) error {
			if slept++; slept <= test.changes {
				change()
			} else {
				time.Sleep(300 * time.Millisecond)
			}
			return nil
		})
		if filepath.Base(path) != "file" || err != nil || slept < test.least || slept > test.most {
			t.Errorf("%d more changes: %q, %v after %d intervals, want %d to %d", test.changes, path, err, slept, test.least, test.most)
		}
	}
}

// A change leads to a call once its interval is over, and an interruption ends the wait.
func TestPolling(t *testing.T) {
	w, change := watchedFile(t)
	var slept []time.Duration
	over := errors.New("over")
	path, err := w.wait(func(d time.Duration) error {
		slept = append(slept, d)
		switch len(slept) {
		case 3:
			change()
		case 4:
			return over
		}
		return nil
	})
	if path != "" || !errors.Is(err, over) || len(slept) != 4 || slept[0] < pollInterval {
		t.Errorf("%q, %v after %v", path, err, slept)
	}
}

// Files that calls write do not count, unless the request names them.
func TestWatchedOwn(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "state", "latest")
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	w := &watched{own: []string{filepath.Dir(file)}}
	absent := []cache.Sighting{cache.Probe{Path: file}.Sight()}
	w.see(absent)
	w.named = w.take(nil)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if path := w.difference(); path != "" {
		t.Errorf("%s differs", path)
	}
	w.named = w.take(absent)
	if path := w.difference(); path != file {
		t.Errorf("%q differs, want %s", path, file)
	}
}

// A path that a call could not look at differs once it is readable.
func TestWatchedUnreadable(t *testing.T) {
	loop := filepath.Join(t.TempDir(), "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	one := cache.Probe{Path: loop, Follow: true}.Sight()
	if one.Err() == nil {
		t.Skip("this system reads a link to itself")
	}
	w := &watched{named: &cache.Snapshot{}}
	w.see([]cache.Sighting{one})
	if path := w.difference(); path != "" {
		t.Fatalf("%s differs", path)
	}
	if err := os.Remove(loop); err != nil {
		t.Fatal(err)
	}
	if path := w.difference(); path != loop {
		t.Errorf("%q differs, want %s", path, loop)
	}
}
