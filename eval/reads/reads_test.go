package reads

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/wake"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// read sees a file with its content, which decides even where its times cannot.
func read(t *testing.T, path string) cache.Sighting {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	one := cache.Probe{Path: path, Follow: true}.Sight()
	one.Digest = cache.SumBytes(text)
	return one
}

// Any change of a path that a call read is a difference; files that calls write themselves are not.
func TestDifference(t *testing.T) {
	for _, test := range []struct {
		name    string
		then    func(t *testing.T, root string, s *Seen)
		differs string // below the root; "" if nothing differs
	}{
		{"nothing", func(*testing.T, string, *Seen) {}, ""},
		{"other content", func(t *testing.T, root string, _ *Seen) { write(t, filepath.Join(root, "problem/tests.py"), "b") }, "problem/tests.py"},
		{"the same content", func(t *testing.T, root string, _ *Seen) { write(t, filepath.Join(root, "problem/tests.py"), "a") }, ""},
		{"file gone", func(t *testing.T, root string, _ *Seen) { remove(t, filepath.Join(root, "problem/tests.py")) }, "problem/tests.py"},
		{"absent file there", func(t *testing.T, root string, _ *Seen) { write(t, filepath.Join(root, "absent"), "") }, "absent"},
		{"new name where calls write", func(t *testing.T, root string, _ *Seen) { write(t, filepath.Join(root, "new.hcl"), "") }, "."},
		{"own file", func(t *testing.T, root string, _ *Seen) { write(t, filepath.Join(root, ".state/log"), "") }, ""},
		{"file of the request", func(t *testing.T, root string, _ *Seen) { write(t, filepath.Join(root, "asked/vars.hcl"), "b") }, "asked/vars.hcl"},
		{"disturbed", func(_ *testing.T, root string, s *Seen) { s.Disturb(filepath.Join(root, "elsewhere")) }, "elsewhere"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			tests, own, asked := filepath.Join(root, "problem/tests.py"), filepath.Join(root, ".state"), filepath.Join(root, "asked/vars.hcl")
			write(t, tests, "a")
			write(t, asked, "a")
			write(t, filepath.Join(own, "records"), "a")
			begun := Begin(root, nil, []cache.Probe{{Path: asked}})
			begun.asked[0] = read(t, asked)
			s := begun.See(Reads{
				Own: []string{own},
				Sightings: []cache.Sighting{read(t, tests), read(t, filepath.Join(own, "records")),
					cache.Probe{Path: filepath.Join(root, "absent")}.Sight(), cache.Probe{Path: root, Listing: true}.Sight()},
			})
			if at := s.Difference(); at != "" {
				t.Fatalf("at once, %s differs", at)
			}
			test.then(t, root, s)
			want := test.differs
			if want != "" {
				want = filepath.Join(root, want)
			}
			if at := s.Difference(); at != want {
				t.Errorf("%q differs, want %q", at, want)
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// A name that appears while a call reads the directory can have been missed.
func TestDoubtful(t *testing.T) {
	root := t.TempDir()
	own := filepath.Join(root, ".state")
	begun := Begin(root, nil, nil)
	write(t, filepath.Join(root, "new.hcl"), "")
	listing := cache.Probe{Path: root, Listing: true}.Sight()
	if at := begun.See(Reads{Own: []string{own}, Sightings: []cache.Sighting{listing}}).Difference(); at != root {
		t.Errorf("%q differs, want the directory", at)
	}
}

// A path that a call could not look at is a difference once it is readable.
func TestFailedProbe(t *testing.T) {
	root := t.TempDir()
	loop := filepath.Join(root, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	one := cache.Probe{Path: loop, Follow: true}.Sight()
	if one.Err() == nil {
		t.Skip("this system reads a link to itself")
	}
	s := Begin(root, nil, nil).See(Reads{Own: []string{filepath.Join(root, ".state")}, Sightings: []cache.Sighting{one}})
	if at := s.Difference(); at != "" {
		t.Fatalf("%s differs", at)
	}
	if !slices.ContainsFunc(s.Paths(), func(p wake.Path) bool { return p.Name == loop }) {
		t.Errorf("%v: %s not found", s.Paths(), loop)
	}
	remove(t, loop)
	if at := s.Difference(); at != loop {
		t.Errorf("%q differs, want %s", at, loop)
	}
}
