package cache

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestBuildTreeRefuses(t *testing.T) {
	f := SumBytes([]byte("f"))
	for _, c := range []struct {
		name    string
		entries []Entry
		want    string
	}{
		{"duplicate file", []Entry{{Path: "a", Digest: f}, {Path: "a", Digest: f}}, `duplicate path "a"`},
		{"duplicate directory", []Entry{{Path: "d/a", Dir: true}, {Path: "d/a", Dir: true}}, `duplicate path "d/a"`},
		{"file and link", []Entry{{Path: "a", Digest: f}, {Path: "a", Link: "b"}}, `duplicate path "a"`},
		{"file and directory", []Entry{{Path: "a", Dir: true}, {Path: "a", Digest: f}}, `duplicate path "a"`},
		{"below a file", []Entry{{Path: "a/b", Digest: f}, {Path: "a", Digest: f}}, `"a" is not a directory, but "a/b" is below it`},
		{"below a link", []Entry{{Path: "d/l/x/y", Digest: f}, {Path: "d/l", Link: "x"}}, `"d/l" is not a directory`},
		{"not UTF-8", []Entry{{Path: "a\xff", Digest: f}}, `"a\xff": name "a\xff" is not UTF-8`},
		{"target not UTF-8", []Entry{{Path: "a", Link: "\xff"}}, "bad symlink target"},
		{"empty path", []Entry{{Path: "", Digest: f}}, "not clean"},
		{"dot", []Entry{{Path: ".", Dir: true}}, "not clean"},
		{"absolute", []Entry{{Path: "/a", Digest: f}}, "not clean"},
		{"parent", []Entry{{Path: "../a", Digest: f}}, "bad name"},
		{"only parent", []Entry{{Path: "..", Dir: true}}, "bad name"},
		{"unclean", []Entry{{Path: "a//b", Digest: f}}, "not clean"},
		{"trailing slash", []Entry{{Path: "a/", Dir: true}}, "not clean"},
		{"inner dot", []Entry{{Path: "a/../b", Digest: f}}, "not clean"},
		{"NUL", []Entry{{Path: "a\x00b", Digest: f}}, "bad name"},
		{"nothing", []Entry{{Path: "a"}}, "exactly one"},
		{"two things", []Entry{{Path: "a", Digest: f, Dir: true}}, "exactly one"},
		{"executable directory", []Entry{{Path: "a", Dir: true, Executable: true}}, "executable"},
		{"negative size", []Entry{{Path: "a", Digest: Digest{Hash: f.Hash, Size: -1}}}, "digest"},
	} {
		if _, err := BuildTree(c.entries); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q in it", c.name, err, c.want)
		}
	}
}

// randomEntries makes a tree in the order and form that WalkTree gives.
func randomEntries(r *rand.Rand) []Entry {
	names := []string{"a", "a-b", "a.b", "a b", "ab", "B", "é", "z"}
	var out []Entry
	var grow func(at string, depth int)
	grow = func(at string, depth int) {
		for _, i := range slices.Sorted(slices.Values(r.Perm(len(names))[:r.IntN(5)])) {
			p := path.Join(at, slices.Sorted(slices.Values(names))[i])
			switch k := r.IntN(4); {
			case k == 0:
				out = append(out, Entry{Path: p, Link: "t" + p})
			case k == 1 && depth < 4:
				out = append(out, Entry{Path: p, Dir: true})
				grow(p, depth+1)
			default:
				out = append(out, Entry{Path: p, Digest: SumBytes([]byte(p)), Executable: r.IntN(2) == 0})
			}
		}
	}
	grow("", 0)
	return out
}

func walk(t testing.TB, s Store, root Digest) []Entry {
	t.Helper()
	var out []Entry
	err := WalkTree(t.Context(), s, root, func(e Entry) error {
		out = append(out, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Order of entries and implied directories do not matter; walking gives back
// what was built, and any difference gives another root.
func TestTreeProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	roots := map[Digest]string{}
	for range 400 {
		want := randomEntries(r)
		s := NewMemory()
		tree, err := BuildTree(want)
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.Store(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if got := walk(t, s, tree.Root); !reflect.DeepEqual(got, want) {
			t.Fatalf("walked %+v\nbuilt %+v", got, want)
		}
		text := fmt.Sprint(want)
		if other, ok := roots[tree.Root]; ok && other != text {
			t.Fatalf("one root for two trees:\n%s\n%s", other, text)
		}
		roots[tree.Root] = text

		var shuffled []Entry
		for _, i := range r.Perm(len(want)) {
			implied := slices.ContainsFunc(want, func(e Entry) bool { return strings.HasPrefix(e.Path, want[i].Path+"/") })
			if !want[i].Dir || !implied {
				shuffled = append(shuffled, want[i])
			}
		}
		before := slices.Clone(shuffled)
		again, err := BuildTree(shuffled)
		if err != nil || again.Root != tree.Root || !reflect.DeepEqual(again.Blobs, tree.Blobs) {
			t.Fatalf("shuffled: %v", err)
		}
		if !reflect.DeepEqual(before, shuffled) {
			t.Fatal("BuildTree changed its argument")
		}
	}
}

func TestWalkTreeStops(t *testing.T) {
	s := NewMemory()
	tree, err := BuildTree(goldenEntries())
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Store(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	var seen []string
	err = WalkTree(t.Context(), s, tree.Root, func(e Entry) error {
		if seen = append(seen, e.Path); len(seen) == 3 {
			return enough
		}
		return nil
	})
	if err != enough || !slices.Equal(seen, []string{"Z", "a-link", "run.sh"}) {
		t.Errorf("WalkTree = %v after %q", err, seen)
	}
	var missing *MissingError
	if err := WalkTree(t.Context(), s, SumBytes([]byte("?")), nil); !errors.As(err, &missing) {
		t.Errorf("WalkTree of nothing = %v", err)
	}
}

// TreeComplete names any missing blob of the closure.
func TestTreeComplete(t *testing.T) {
	contents := []string{"n", "#!/bin/sh\n", "upper", strings.Repeat("x", 70000), ""}
	tree, err := BuildTree(goldenEntries())
	if err != nil {
		t.Fatal(err)
	}
	closure := slices.Collect(func(yield func(Digest) bool) {
		for g := range tree.Blobs {
			yield(g)
		}
		for _, c := range contents {
			yield(SumBytes([]byte(c)))
		}
	})
	for _, gone := range closure {
		d := openDisk(t)
		for _, c := range contents {
			putBytes(t, d, []byte(c))
		}
		if err := tree.Store(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if err := TreeComplete(t.Context(), d, tree.Root); err != nil {
			t.Fatalf("complete, but %v", err)
		}
		d.drop(d.blobPath(gone), lstat(t, d.blobPath(gone)))
		var missing *MissingError
		if err := TreeComplete(t.Context(), d, tree.Root); !errors.As(err, &missing) || missing.Digest != gone {
			t.Errorf("without %s: %v", gone, err)
		}
	}
	d := openDisk(t)
	if err := tree.Store(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	overwrite(t, d.blobPath(tree.Root), make([]byte, tree.Root.Size))
	var missing *MissingError
	if err := TreeComplete(t.Context(), d, tree.Root); !errors.As(err, &missing) || missing.Digest != tree.Root {
		t.Errorf("with a corrupt root: %v; want a MissingError", err)
	}
}

func TestDecodeDirectoryRefuses(t *testing.T) {
	f := func(name string) fileNode { return fileNode{name: name, digest: SumBytes([]byte(name))} }
	for name, d := range map[string]directory{
		"leads up":         {files: []fileNode{f("..")}},
		"leads elsewhere":  {files: []fileNode{f("a/b")}},
		"nameless":         {dirs: []dirNode{{"", SumBytes(nil)}}},
		"out of order":     {files: []fileNode{f("b"), f("a")}},
		"twice":            {files: []fileNode{f("a"), f("a")}},
		"twice, two kinds": {files: []fileNode{f("a")}, links: []linkNode{{"a", "t"}}},
		"no target":        {links: []linkNode{{"a", ""}}},
		"no digest":        {files: []fileNode{{name: "a"}}},
		"not UTF-8":        {dirs: []dirNode{{"\xff", SumBytes(nil)}}},
	} {
		if got, err := decodeDirectory(d.encode()); err == nil {
			t.Errorf("%s: decoded as %+v", name, got)
		}
	}
	// Node properties, field 5, are other programs' business.
	if _, err := decodeDirectory([]byte{0x2a, 0}); err != nil {
		t.Errorf("a directory with node properties: %v", err)
	}
}

// A tree that was made before can be put into another by its digest.
func TestGraft(t *testing.T) {
	f := SumBytes([]byte("f"))
	inner, err := BuildTree([]Entry{{Path: "a/f", Digest: f}})
	if err != nil {
		t.Fatal(err)
	}
	grafted, err := BuildTree([]Entry{{Path: "d/inner", Tree: inner.Root}, {Path: "d/g", Digest: f}})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := BuildTree([]Entry{{Path: "d/inner/a/f", Digest: f}, {Path: "d/g", Digest: f}})
	if err != nil || grafted.Root != whole.Root {
		t.Errorf("got %v, want %v, %v", grafted.Root, whole.Root, err)
	}
	if _, err := BuildTree([]Entry{{Path: "d", Tree: inner.Root}, {Path: "d/g", Digest: f}}); err == nil {
		t.Error("something was put into a tree that was made before")
	}
}
