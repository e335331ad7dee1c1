package local_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/ownthread"
)

// With every tree mounted, however small, a backend is no other. What takes long
// and has little to do with files is tested with the real programs.
func TestConformanceShared(t *testing.T) {
	needSharing(t)
	open := func(t *testing.T) (backend.Backend, cache.Store) {
		b, store := openSharing(t)
		return sharing{b}, store
	}
	if os.Getenv("FEVALGRAPH_TEST_REAL") != "" {
		backendtest.TestBackend(t, open)
		return
	}
	t.Run("Files", func(t *testing.T) { backendtest.TestFiles(t, open) })
	t.Run("Programs", func(t *testing.T) { backendtest.TestPrograms(t, open) })
}

// openSharing returns a backend that mounts trees of any size and must leave
// nothing behind.
func openSharing(t *testing.T) (*local.Backend, *cache.Disk) {
	t.Helper()
	dir := t.TempDir()
	store, err := cache.OpenDisk(filepath.Join(dir, "store"), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	scratch := filepath.Join(dir, "scratch")
	t.Cleanup(func() {
		if left, err := os.ReadDir(scratch); len(left) > 0 {
			t.Errorf("left in scratch: %v, %v", left, err)
		}
		if left, err := filepath.Glob(filepath.Join(store.ShelvesDir(), "trial-*")); len(left) > 0 {
			t.Errorf("left beside the shelves: %v, %v", left, err)
		}
	})
	return local.New(store, local.Options{Scratch: scratch, Path: backendtest.Path, Grace: time.Second, ShareFrom: 1}), store
}

// asset stores a tree like that of an asset and returns the input that it is.
func asset(t testing.TB, store cache.Store) backend.Input {
	t.Helper()
	content := func(s string) cache.Digest {
		d, err := cache.PutBytes(t.Context(), store, []byte(s))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	tree, err := cache.BuildTree([]cache.Entry{
		{Path: "asset/data", Digest: content("data\n")}, {Path: "asset/sub/deep/file", Digest: content("deep\n")},
		{Path: "asset/run", Digest: content("#!/bin/sh\necho ran\n"), Executable: true},
		{Path: "asset/link", Link: "data"}, {Path: "asset/empty", Dir: true},
	})
	if err == nil {
		err = tree.Store(t.Context(), store)
	}
	if err != nil {
		t.Fatal(err)
	}
	return backend.Input{Path: "tests", Tree: tree.Root, Shared: true}
}

func opened(t *testing.T, b backend.Backend, inputs ...backend.Input) backend.Session {
	t.Helper()
	s, err := b.Open(t.Context(), backend.Spec{Name: t.Name(), Inputs: inputs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// says runs a script that must succeed and returns what it prints.
func says(t *testing.T, s backend.Session, script string) string {
	t.Helper()
	var out bytes.Buffer
	exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"sh", "-euc", script}, Output: &out})
	if err != nil || exit.Code != 0 {
		t.Fatalf("%s: %+v, %v\n%s", script, exit, err, out.String())
	}
	return out.String()
}

// Whatever a session does to its asset is the same whether that is mounted or
// copied, and no other session sees it.
func TestSharedIsOnesOwn(t *testing.T) {
	needSharing(t)
	b, store := openSharing(t)
	copying := local.New(store, local.Options{Scratch: t.TempDir(), Path: backendtest.Path, ShareFrom: -1})
	in := asset(t, store)
	for _, test := range []struct{ name, script string }{
		{"nothing", ``},
		{"append", `echo more >>tests/asset/data`},
		{"through a link", `echo more >>tests/asset/link`},
		{"in place", `printf D | dd of=tests/asset/data conv=notrunc 2>/dev/null`},
		{"truncate", `: >tests/asset/data`},
		{"modes", `chmod 600 tests/asset/data; chmod -x tests/asset/run; chmod 700 tests/asset/sub`},
		{"unlink", `rm tests/asset/data tests/asset/link`},
		{"unlink and make", `rm tests/asset/data; mkdir tests/asset/data; echo x >tests/asset/data/x`},
		{"remove all", `rm -r tests/asset; mkdir -p tests/asset/sub; echo new >tests/asset/sub/new`},
		{"rename a file", `mv tests/asset/data tests/asset/sub/data`},
		{"rename a directory", `mv tests/asset/sub tests/moved; mv tests/moved/deep tests/asset/deep; echo x >>tests/asset/deep/file`},
		{"rename over", `echo x >mine; mv mine tests/asset/data; mv tests/asset/run tests/asset/sub/deep/file`},
		{"rename an empty one over", `rmdir tests/asset/empty; mv tests/asset/sub tests/asset/empty`},
		{"out of the workspace and back", `mv tests/asset "$HOME/kept"; echo x >>"$HOME/kept/data"; mv "$HOME/kept" "$TMPDIR/t"; mv "$TMPDIR/t" back`},
		{"hard links", `ln tests/asset/data tests/asset/twice; echo x >>tests/asset/twice; ln tests/asset/run other`},
		{"symlinks", `rm tests/asset/link; ln -s sub tests/asset/link; ln -s asset/run tests/asset/empty/l`},
		{"copies", `cp -a tests/asset tests/copy; rm -r tests/asset; cp -a tests/copy tests/asset`},
		{"run", `tests/asset/run >said; cd tests/asset; ./run >>../../said`},
		{"replace by a file", `rm -r tests/asset/sub; echo x >tests/asset/sub`},
		{"times", `touch -d 2001-02-03T04:05:06Z tests/asset/data; find tests -newermt 2002-01-01 -name data >said; find tests/asset -name data ! -newermt 2002-01-01 >>said`},
		{"numbers", `a=$(stat -c %i tests/asset/data); echo x >>tests/asset/data; test $a = $(stat -c %i tests/asset/data)`},
		{"sizes", `du --apparent-size -b tests/asset/data tests/asset/sub/deep/file >said; find tests -type f | wc -l >>said`},
		{"holes", `dd if=/dev/zero of=tests/asset/data bs=1 count=1 seek=100000 conv=notrunc 2>/dev/null`},
		{"a stranger", `chmod 755 .. ; chmod o+w tests/asset/data tests/asset; if test $(id -u) = 0 && command -v setpriv >/dev/null; then setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'cat tests/asset/data; echo x >>tests/asset/data; echo y >tests/asset/mine; rm tests/asset/link; touch tests/asset/sub/x 2>/dev/null || echo denied' >said; fi`},
	} {
		t.Run(test.name, func(t *testing.T) {
			mounted := opened(t, b, in, backend.Input{Path: "main", Content: []byte("x")})
			says(t, mounted, test.script)
			copied := opened(t, copying, in, backend.Input{Path: "main", Content: []byte("x")})
			says(t, copied, test.script)
			if got, want := says(t, mounted, listAll), says(t, copied, listAll); got != want {
				t.Errorf("mounted:\n%s\ncopied:\n%s", got, want)
			}
		})
	}
	fresh, untouched := opened(t, b, in), opened(t, copying, in)
	if got, want := says(t, fresh, listAll), says(t, untouched, listAll); got != want {
		t.Errorf("the next session has\n%s\nwant\n%s", got, want)
	}
}

// listAll prints all of a workspace: kinds, modes, owners, links, contents.
const listAll = `find . "$HOME" "$TMPDIR" -printf '%y %m %U %G %n %l ' \( -path "$HOME*" -printf 'home/%P\n' -o -path "$TMPDIR*" -printf 'tmp/%P\n' -o -printf '%p\n' \) | sed 's/^d \([^ ]* [^ ]* [^ ]*\) [0-9]*/d \1/' | sort
find . -type f | sort | while read -r f; do echo "$f:"; cat "$f"; done`

// Trees go over one another, and over what a submission left, as they do when they
// are copied.
func TestSharedOrder(t *testing.T) {
	needSharing(t)
	b, store := openSharing(t)
	copying := local.New(store, local.Options{Scratch: t.TempDir(), Path: backendtest.Path, ShareFrom: -1})
	cloning := local.New(store, local.Options{Scratch: t.TempDir(), Path: backendtest.Path, ShareFrom: 1, NoMounts: true})
	content, err := cache.PutBytes(t.Context(), store, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	// Of each name, a tree has a file, a directory, a link, or nothing.
	names := []string{"a", "b", "a/c"}
	var trees []cache.Digest
	for code := range 4 * 4 * 4 {
		var entries []cache.Entry
		underFile := false
		for i, name := range names {
			e := cache.Entry{Path: name}
			switch code >> (2 * i) & 3 {
			case 0:
				continue
			case 1:
				e.Digest = content
			case 2:
				e.Dir = true
			case 3:
				e.Link = "b"
			}
			underFile = underFile || name == "a/c" && code&1 == 1
			entries = append(entries, e)
		}
		if underFile {
			continue
		}
		tree, err := cache.BuildTree(entries)
		if err == nil {
			err = tree.Store(t.Context(), store)
		}
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree.Root)
	}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func() cache.Digest { return trees[random.IntN(len(trees))] }
	for round := range 20 {
		earlier := []backend.Input{{Tree: pick()}, {Path: "a", Tree: pick()}}
		paths := []string{"", "", "a", "a/c"}
		var later []backend.Input
		for range 4 {
			later = append(later, backend.Input{Path: paths[random.IntN(len(paths))], Tree: pick(), Shared: random.IntN(4) > 0, Replace: random.IntN(5) == 0})
		}
		var got []string
		for _, backend := range []backend.Backend{b, copying, cloning} {
			s := opened(t, backend, earlier...)
			if err := s.Place(t.Context(), later[:3]...); err != nil {
				t.Fatal(err)
			}
			first := says(t, s, listAll)
			if err := s.Place(t.Context(), later[3]); err != nil {
				t.Fatal(err)
			}
			got = append(got, first+"--\n"+says(t, s, listAll))
			if err := s.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got[0] != got[1] || got[1] != got[2] {
			t.Fatalf("round %d: %+v then %+v: mounted\n%s\ncopied\n%s\ncloned\n%s", round, earlier, later, got[0], got[1], got[2])
		}
	}
}

// A session sees none of what it shares but under its own name. What somebody
// does to that all the same is no verdict.
func TestSharedIsOutOfReach(t *testing.T) {
	needSharing(t)
	b, store := openSharing(t)
	in := asset(t, store)
	s := opened(t, b, in)
	if got := says(t, s, `cat tests/asset/data; ls -A "`+store.ShelvesDir()+`"`); got != "data\n" {
		t.Errorf("the session sees %q", got)
	}
	shelves, err := filepath.Glob(filepath.Join(store.ShelvesDir(), "*", "*", "tree", "work", "tests", "asset", "data"))
	if err != nil || len(shelves) != 1 {
		t.Fatalf("shelves are %v, %v", shelves, err)
	}
	if err := os.WriteFile(shelves[0], []byte("evil\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"true"}}); err == nil {
		t.Errorf("a session with other files than its own ended with %+v", exit)
	}
	if got := says(t, opened(t, b, in), `cat tests/asset/data`); got != "data\n" {
		t.Errorf("the next session sees %q", got)
	}
}

// Without the right to mount, or on a store without files, trees are copied.
func TestSharedElsewhere(t *testing.T) {
	store := cache.NewMemory()
	b := local.New(store, local.Options{Scratch: t.TempDir(), Path: backendtest.Path, ShareFrom: 1})
	if way, err := b.Sharing(); way != workspace.Copied || err == nil {
		t.Errorf("a store in memory is %s, %v", way, err)
	}
	if got := says(t, opened(t, b, asset(t, store)), `cat tests/asset/data`); got != "data\n" {
		t.Errorf("the session sees %q", got)
	}
}

// Programs of a mounted tree are found, and have ports and no network where they
// are to.
func TestSharedPrograms(t *testing.T) {
	needSharing(t)
	b, store := openSharing(t)
	s := opened(t, b, asset(t, store))
	for _, cmd := range []backend.Command{
		{Argv: []string{"./run"}, Dir: "tests/asset"},
		{Argv: []string{"tests/asset/run"}, Ports: []int{8080}},
		{Argv: []string{"tests/asset/run"}, Offline: b.Network() == backend.PrivateNetwork},
		{Argv: []string{"run"}, Env: []string{"PATH=" + filepath.Join(s.Dir(), "tests", "asset") + ":" + backendtest.Path}},
	} {
		var out bytes.Buffer
		cmd.Output = &out
		if exit, err := s.Exec(t.Context(), cmd); err != nil || exit.Code != 0 || out.String() != "ran\n" {
			t.Errorf("%v: %+v, %v, %q", cmd.Argv, exit, err, out.String())
		}
	}
}

// sharing is a backend all of whose trees are shared.
type sharing struct{ *local.Backend }

func (b sharing) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	spec.Inputs = allShared(spec.Inputs)
	s, err := b.Backend.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	return sharingSession{s}, nil
}

type sharingSession struct{ backend.Session }

func (s sharingSession) Place(ctx context.Context, inputs ...backend.Input) error {
	return s.Session.Place(ctx, allShared(inputs)...)
}

func allShared(inputs []backend.Input) []backend.Input {
	var all []backend.Input
	for _, in := range inputs {
		in.Shared = true
		all = append(all, in)
	}
	return all
}

// needSharing skips where nothing can be mounted. Where something can, that it is
// not is a mistake.
func needSharing(t *testing.T) {
	t.Helper()
	store, err := cache.OpenDisk(t.TempDir(), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	way, err := local.New(store, local.Options{Scratch: t.TempDir()}).Sharing()
	if way != workspace.Mounted && bareOverlay(t) == nil {
		t.Fatalf("an overlay can be mounted, but: %v", err)
	}
	if way != workspace.Mounted {
		t.Skipf("this machine does not mount: %v", err)
	}
}

// bareOverlay mounts one by the shortest way.
func bareOverlay(t *testing.T) error {
	dir := t.TempDir()
	for _, name := range []string{"lower", "upper", "work"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return ownthread.Do(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return err
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return err
		}
		return unix.Mount("overlay", dir, "overlay", 0, fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work,volatile", dir))
	})
}

// Without mounts each session has its asset to itself, too, whether this file
// system clones or not.
func TestSharedWithoutMounts(t *testing.T) {
	store, err := cache.OpenDisk(t.TempDir(), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := local.New(store, local.Options{Scratch: t.TempDir(), Path: backendtest.Path, ShareFrom: 1, NoMounts: true})
	way, err := b.Sharing()
	t.Logf("%s: %v", way, err)
	if way == workspace.Mounted || err == nil {
		t.Errorf("it is %s, %v", way, err)
	}
	for range 2 {
		s := opened(t, b, asset(t, store))
		if got := says(t, s, `cat tests/asset/data tests/asset/sub/deep/file; tests/asset/run; echo more >>tests/asset/data`); got != "data\ndeep\nran\n" {
			t.Errorf("%s, the session sees %q", way, got)
		}
	}
	if shelves, err := filepath.Glob(filepath.Join(store.ShelvesDir(), "*", "*", "tree")); (way == workspace.Cloned) != (len(shelves) == 1) || err != nil {
		t.Errorf("%s from %v, %v", way, shelves, err)
	}
}
