package tasks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
)

// read hashes every file each time.
type read struct{}

func (read) Digest(path string, _ fs.FileInfo) (cache.Digest, error) {
	b, err := os.ReadFile(path)
	return cache.SumBytes(b), err
}

// bring executes the task alone and lists the tree that it made, and compares it with the prediction of an earlier
// plan.
func bring(t *testing.T, store cache.Store, s *Source) ([]string, *graph.Status) {
	t.Helper()
	g := graph.New()
	id := g.Add(graph.Node{Addr: "source", Kind: "source", Task: s})
	o := graph.Options{Store: store, Pools: map[string]int{graph.CPUPool: 1}, Preview: graph.Preview{DryRun: true}}
	planned, err := g.Execute(t.Context(), []graph.ID{id}, o)
	if err != nil {
		t.Fatal(err)
	}
	o.DryRun = false
	r, err := g.Execute(t.Context(), []graph.ID{id}, o)
	if err != nil {
		t.Fatal(err)
	}
	st := r.Status(id)
	if p := planned.Status(id); p.Key != st.Key || !slices.Equal(p.Outputs, st.Outputs) {
		t.Errorf("planned key %s and outputs %v; got %s and %v", p.Key, p.Outputs, st.Key, st.Outputs)
	}
	if len(st.Outputs) == 0 {
		return nil, st
	}
	if err := cache.TreeComplete(t.Context(), store, st.Outputs[0].Digest); err != nil {
		t.Error(err)
	}
	return treeList(t, store, st.Outputs[0].Digest), st
}

func treeList(t *testing.T, store cache.Store, root cache.Digest) []string {
	t.Helper()
	var all []string
	err := cache.WalkTree(context.Background(), store, root, func(e cache.Entry) error {
		line := e.Path
		switch {
		case e.Dir:
			return nil
		case e.Link != "":
			line += "->" + e.Link
		default:
			if e.Executable {
				line += "*"
			}
			content, err := cache.ReadBlob(context.Background(), store, e.Digest, -1)
			if err != nil {
				return err
			}
			line += "=" + string(content)
		}
		all = append(all, line)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

func TestMaterialize(t *testing.T) {
	root := lay(t, "dir/a.txt=1", "dir/run*=2", "dir/sub/b.txt=3", "dir/sub/c.bin=4", "dir/l->a.txt", "empty/", "a[b]/x.txt=5", "out->dir/a.txt", "g/in.txt->../dir/a.txt",
		"h/a.txt=6", "h/._a.txt=7", "h/.#a.txt->me@host.1", "h/.git/b.txt=8", "d/a.txt->gone.txt")
	sum := sha256.Sum256([]byte("1"))
	hash := hex.EncodeToString(sum[:])
	at := func(name string) string { return filepath.Join(root, name) }
	for _, try := range []struct {
		name  string
		asset Asset
		want  []string
		err   string
	}{
		{name: "directory", asset: Asset{Source: at("dir"), Target: "t"}, want: []string{"t/a.txt=1", "t/l->a.txt", "t/run*=2", "t/sub/b.txt=3", "t/sub/c.bin=4"}},
		{name: "deep target", asset: Asset{Source: at("dir/sub"), Target: "t/u"}, want: []string{"t/u/b.txt=3", "t/u/c.bin=4"}},
		{name: "file", asset: Asset{Source: at("dir/a.txt"), Target: "t.txt"}, want: []string{"t.txt=1"}},
		{name: "link to a file", asset: Asset{Source: at("out"), Target: "t.txt"}, want: []string{"t.txt=1"}},
		{name: "mode on", asset: Asset{Source: at("dir/sub"), Target: "t", Mode: "0755"}, want: []string{"t/b.txt*=3", "t/c.bin*=4"}},
		{name: "mode off", asset: Asset{Source: at("dir/run"), Target: "t", Mode: "0644"}, want: []string{"t=2"}},
		{name: "ignore", asset: Asset{Source: at("dir"), Target: "t", Ignore: []string{"**/*.txt", "run"}}, want: []string{"t/l->a.txt", "t/sub/c.bin=4"}},
		{name: "glob", asset: Asset{Source: at("dir") + "/**/*.txt", Glob: true, Target: "t"}, want: []string{"t/a.txt=1", "t/sub/b.txt=3"}},
		{name: "glob, ignore", asset: Asset{Source: at("dir") + "/**/*.txt", Glob: true, Target: "t", Ignore: []string{"sub/**"}}, want: []string{"t/a.txt=1"}},
		{name: "glob below brackets", asset: Asset{Source: at(`a\[b\]`) + "/*.txt", Glob: true, Target: "t"}, want: []string{"t/x.txt=5"}},
		{name: "glob of links", asset: Asset{Source: at("g") + "/*.txt", Glob: true, Target: "t"}, err: "a symlink leads out"},
		{name: "glob next to hidden files", asset: Asset{Source: at("h") + "/**/*.txt", Glob: true, Target: "t"}, want: []string{"t/a.txt=6"}},
		{name: "glob of hidden files", asset: Asset{Source: at("h") + "/.[_g]*/**", Glob: true, Target: "t"}, want: []string{"t/.git/b.txt=8"}},
		{name: "glob of a dangling link", asset: Asset{Source: at("d") + "/*", Glob: true, Target: "t"}, err: "a.txt in " + at("d") + " is a link to gone.txt, which does not exist"},
		{name: "sum", asset: Asset{Source: at("dir/a.txt"), Target: "t", SHA256: hash}, want: []string{"t=1"}},
		{name: "wrong sum", asset: Asset{Source: at("dir/run"), Target: "t", SHA256: hash}, err: "has the SHA-256 d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35, want " + hash},
		{name: "sum of a directory", asset: Asset{Source: at("dir"), Target: "t", SHA256: hash}, err: "is not a single file"},
		{name: "gone", asset: Asset{Source: at("gone"), Target: "t"}, err: "no such file"},
		{name: "no match", asset: Asset{Source: at("dir") + "/*.md", Glob: true, Target: "t"}, err: "matches no file"},
		{name: "only ignored", asset: Asset{Source: at("dir/sub"), Target: "t", Ignore: []string{"*"}}, err: "has no files"},
	} {
		t.Run(try.name, func(t *testing.T) {
			store := cache.NewMemory()
			got, st := bring(t, store, NewMaterialize(try.asset, Sources{States: read{}, Store: store}))
			if try.err != "" {
				if !st.Input || !strings.Contains(st.Message, try.err) {
					t.Errorf("state %s, input %v, message %q; want %s", st.State, st.Input, st.Message, try.err)
				}
			} else if !slices.Equal(got, try.want) {
				t.Errorf("got %q, message %q; want %q", got, st.Message, try.want)
			}
		})
	}
}

func TestTests(t *testing.T) {
	root := lay(t, "conftest.py=c", "helpers.py=h", "data/x.json=d", "data/test_nested.py=n", "__init__.py=", "foo_test.py=f",
		"test_checkpoint_1.py=1", "test_checkpoint_2.py=2", "test_extra.py=e", "__pycache__/conftest.pyc=x", "data/__pycache__/y.pyc=y", ".pytest_cache/v=z", "old.pyc=o")
	store := cache.NewMemory()
	got, _ := bring(t, store, NewTests(Tests{Root: root, Files: []string{"test_checkpoint_1.py"}}, Sources{States: read{}, Store: store}))
	want := []string{"__init__.py=", "conftest.py=c", "data/test_nested.py=n", "data/x.json=d", "foo_test.py=f", "helpers.py=h", "test_checkpoint_1.py=1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got, _ = bring(t, store, NewTests(Tests{Root: root, Files: []string{"test_checkpoint_1.py", "test_checkpoint_2.py"}}, Sources{States: read{}, Store: store}))
	if !slices.Contains(got, "test_checkpoint_2.py=2") || slices.Contains(got, "test_extra.py=e") {
		t.Errorf("got %q", got)
	}
}

func TestSubmission(t *testing.T) {
	root := lay(t, "kv.py=k", "lib/x.py=x", ".venv/y=y", "empty/")
	store := cache.NewMemory()
	sources := Sources{States: read{}, Store: store}
	if got, _ := bring(t, store, NewSubmission(Submission{Source: root, Ignore: Doublestar([]string{".venv"})}, sources)); !slices.Equal(got, []string{"kv.py=k", "lib/x.py=x"}) {
		t.Errorf("directory: %q", got)
	}
	if got, _ := bring(t, store, NewSubmission(Submission{Source: filepath.Join(root, "kv.py")}, sources)); !slices.Equal(got, []string{"kv.py=k"}) {
		t.Errorf("file: %q", got)
	}
	if got, st := bring(t, store, NewSubmission(Submission{Source: filepath.Join(root, "empty")}, sources)); got != nil || len(st.Outputs) != 1 {
		t.Errorf("empty directory: %q, %+v", got, st)
	}
	if _, st := bring(t, store, NewSubmission(Submission{Source: filepath.Join(root, "gone")}, sources)); !st.Input || !strings.HasPrefix(st.Message, "reading the submission: ") {
		t.Errorf("gone: %+v", st)
	}
}

// A later part has its target alone. A part without anything is an empty directory.
func TestParts(t *testing.T) {
	root := lay(t, "app/kv.py=k", "app/data/old=o", "app/empty/", "data/words=w", "one=1")
	store := cache.NewMemory()
	sources := Sources{States: read{}, Store: store}
	at := func(name string) string { return filepath.Join(root, name) }
	task := NewParts([]Submission{
		{Source: at("app"), Target: "app"}, {Source: at("data"), Target: "app/data"}, {Source: at("one"), Target: "logs/one.txt"},
		{Source: at("app/empty"), Target: "logs/artifacts"}, {Target: "var/none"},
	}, sources)
	got, st := bring(t, store, task)
	err := cache.WalkTree(t.Context(), store, st.Outputs[0].Digest, func(e cache.Entry) error {
		if e.Dir {
			got = append(got, e.Path+"/")
		}
		return nil
	})
	for _, empty := range []string{"app/empty/", "logs/artifacts/", "var/none/"} {
		if !slices.Contains(got, empty) {
			t.Errorf("no %s in %q, %v", empty, got, err)
		}
	}
	if want := []string{"app/data/words=w", "app/kv.py=k", "logs/one.txt=1"}; !slices.Equal(got[:3], want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, parts := range [][]Submission{{{Source: at("one"), Target: "a"}, {Source: at("one"), Target: "a/b"}}, {{Source: at("one"), Target: "a"}, {Source: at("gone"), Target: "b"}}} {
		if _, st := bring(t, store, NewParts(parts, sources)); !st.Input {
			t.Errorf("%v: %+v", parts, st)
		}
	}
}

func TestMissingTests(t *testing.T) {
	root := lay(t, "test_checkpoint_1.py=1", "conftest.py=c", "sub/test_x.py=x")
	store := cache.NewMemory()
	sources := Sources{States: read{}, Store: store}
	files := []string{"test_checkpoint_1.py", "sub/test_x.py", "test_checkpoint_2.py"}
	if _, st := bring(t, store, NewTests(Tests{Root: root, Files: files}, sources)); !st.Input || !strings.Contains(st.Message, "the test file test_checkpoint_2.py is no longer in "+root) {
		t.Errorf("a file that is gone: %+v", st)
	}
	lacking, st := bring(t, store, NewTests(Tests{Root: root, Files: files, MayLack: true}, sources))
	if want := []string{"conftest.py=c", "sub/test_x.py=x", "test_checkpoint_1.py=1"}; !slices.Equal(lacking, want) {
		t.Errorf("got %q, want %q", lacking, want)
	}
	if _, same := bring(t, store, NewTests(Tests{Root: root, Files: files[:2]}, sources)); same.Key != st.Key {
		t.Error("the name of a file that does not exist is in the key")
	}
	if err := os.WriteFile(filepath.Join(root, files[2]), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, whole := bring(t, store, NewTests(Tests{Root: root, Files: files, MayLack: true}, sources)); whole.Key == st.Key {
		t.Error("a file that has come is not in the key")
	}
}

// TestPlainSubmission: files that are not regular change the key, so that it can be explained, but not the tree.
// Executable bits change neither.
func TestPlainSubmission(t *testing.T) {
	store := cache.NewMemory()
	sources := Sources{States: read{}, Store: store}
	of := func(files ...string) (tree []string, st *graph.Status) {
		return bring(t, store, NewSubmission(Submission{Source: lay(t, files...), Plain: true}, sources))
	}
	tree, base := of("main.py=1", "lib/run=2")
	if want := []string{"lib/run=2", "main.py=1"}; !slices.Equal(tree, want) {
		t.Errorf("got %q, want %q", tree, want)
	}
	if _, st := of("main.py*=1", "lib/run*=2"); st.Key != base.Key {
		t.Error("executable bits are in the key")
	}
	for name, more := range map[string]string{"link": "a->main.py", "escaping link": "a->../../x", "absolute link": "a->/etc/passwd", "loop": "a->a",
		"pipe": "a|", "socket": "a%", "empty directory": "a/"} {
		_, st := of("main.py=1", "lib/run=2", more)
		if st.Message != "" || !slices.Equal(st.Outputs, base.Outputs) {
			t.Errorf("%s: outputs %v, want %v; %s", name, st.Outputs, base.Outputs, st.Message)
		}
		if st.Key == base.Key {
			t.Errorf("%s: its omission is not reported", name)
		}
	}
	for name, bad := range map[string]struct{ file, err string }{"not UTF-8": {"a\xff=", "is not valid UTF-8"}, "link, not UTF-8": {"a\xff->x", "is not valid UTF-8"}} {
		if _, st := of("main.py=1", bad.file); !st.Input || !strings.Contains(st.Message, bad.err) {
			t.Errorf("%s: %+v", name, st)
		}
	}
	if tree, st := of("p|", "e/"); tree != nil || len(st.Outputs) != 1 {
		t.Errorf("only omitted files: %q, %+v", tree, st)
	}

	root := lay(t, "run*=1", "p|", "link->run")
	single := func(name string) ([]string, *graph.Status) {
		return bring(t, store, NewSubmission(Submission{Source: filepath.Join(root, name), Plain: true}, sources))
	}
	if tree, _ := single("run"); !slices.Equal(tree, []string{"run=1"}) {
		t.Errorf("a single file: %q", tree)
	}
	if tree, _ := single("link"); !slices.Equal(tree, []string{"link=1"}) {
		t.Errorf("a link to a single file: %q", tree)
	}
	for _, name := range []string{"p", "gone"} {
		if _, st := single(name); !st.Input {
			t.Errorf("%s: %+v", name, st)
		}
	}
}

// TestSourceKeys: changes that do and do not change the key of a tree.
func TestSourceKeys(t *testing.T) {
	key := func(files ...string) cache.Key {
		store := cache.NewMemory()
		_, st := bring(t, store, NewSubmission(Submission{Source: lay(t, files...)}, Sources{States: read{}, Store: store}))
		return st.Key
	}
	base := key("a=1", "b=2")
	if key("b=2", "a=1") != base {
		t.Error("the order of creation is in the key")
	}
	for name, files := range map[string][]string{
		"content": {"a=1", "b=3"}, "swapped": {"a=2", "b=1"}, "added": {"a=1", "b=2", "c="}, "deleted": {"a=1"}, "renamed": {"a=1", "c=2"},
		"mode": {"a*=1", "b=2"}, "moved": {"a=1", "d/b=2"}, "link": {"a=1", "b->a"}, "directory": {"a=1", "b=2", "e/"},
	} {
		if key(files...) == base {
			t.Errorf("%s: the same key", name)
		}
	}
}

// changing is a file that differs each time.
type changing struct{ n *int }

func (c changing) Digest(path string, _ fs.FileInfo) (cache.Digest, error) {
	*c.n++
	return cache.Digest{}, &cache.ChangedError{Path: path}
}

// deniedStates cannot read anything.
type deniedStates struct{}

func (deniedStates) Digest(path string, _ fs.FileInfo) (cache.Digest, error) {
	return cache.Digest{}, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
}

func TestSourceErrors(t *testing.T) {
	root := lay(t, "a=1")
	store := cache.NewMemory()
	asks := 0
	_, st := bring(t, store, NewSubmission(Submission{Source: root}, Sources{States: changing{&asks}, Store: store}))
	if st.State != "broken" || asks < 3 {
		t.Errorf("a file that keeps changing: %s after %d", st.State, asks)
	}
	_, st = bring(t, store, NewSubmission(Submission{Source: root}, Sources{States: deniedStates{}, Store: store}))
	if !st.Input || !strings.Contains(st.Message, "permission denied") || !strings.HasPrefix(st.Message, root) {
		t.Errorf("a file that cannot be read: %+v", st)
	}

	// A file that changes between the decision and the copy.
	s := NewSubmission(Submission{Source: root}, Sources{States: read{}, Store: changer{store, filepath.Join(root, "a")}})
	g := graph.New()
	id := g.Add(graph.Node{Addr: "source", Kind: "source", Task: s})
	r, err := g.Execute(t.Context(), []graph.ID{id}, graph.Options{Store: store, Pools: map[string]int{graph.CPUPool: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if got := treeList(t, store, r.Status(id).Outputs[0].Digest); !slices.Equal(got, []string{"a=2"}) {
		t.Errorf("got %q", got)
	}
}

// changer writes the file once, right before it would be stored.
type changer struct {
	store *cache.Memory
	path  string
}

func (c changer) PutFile(ctx context.Context, path string, want *cache.Digest) (cache.Digest, error) {
	if err := os.WriteFile(c.path, []byte("2"), 0o644); err != nil {
		return cache.Digest{}, err
	}
	d, err := c.store.PutFile(ctx, path, want)
	var changed *cache.ChangedError
	if err != nil && !errors.As(err, &changed) {
		err = fmt.Errorf("not as expected: %w", err)
	}
	return d, err
}

// unread refuses to hash anything.
type unread struct{}

func (unread) Digest(path string, _ fs.FileInfo) (cache.Digest, error) {
	return cache.Digest{}, errors.New(path + " was read")
}

// A source keeps no list of files after its answer was served, and scans them again for the next execution.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	store := cache.NewMemory()
	s := NewMaterialize(Asset{Source: dir, Target: "in"}, Sources{States: read{}, Store: store})
	first, _ := bring(t, store, s)
	if _, st := bring(t, store, s); st.State != event.Cached || len(s.Found()) > 0 {
		t.Errorf("the second run is %s, and keeps %d files", st.State, len(s.Found()))
	}
	if outputs, err := s.Predict(); err == nil {
		t.Errorf("without a description, it predicts %v", outputs)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("another"), 0o644); err != nil {
		t.Fatal(err)
	}
	if again, _ := bring(t, store, s); !slices.Equal(again, []string{"in/a=another"}) {
		t.Errorf("after an edit, the tree is %v, and was %v", again, first)
	}
}

// full wraps a store that cannot write one record: all files are open.
type full struct {
	cache.Store
	once sync.Once
}

func (f *full) PutRecord(ctx context.Context, k cache.Key, r *cache.Record) (err error) {
	f.once.Do(func() { err = &fs.PathError{Op: "open", Path: "record", Err: syscall.EMFILE} })
	if err != nil {
		return err
	}
	return f.Store.PutRecord(ctx, k, r)
}

// An attempt that could not store its answer is repeated without another scan, and blames no source.
func TestRepeatedAttempt(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	files := cache.NewMemory()
	store := &full{Store: files}
	s := NewMaterialize(Asset{Source: dir, Target: "in"}, Sources{States: read{}, Store: files})
	if got, st := bring(t, store, s); st.State != event.Done || !slices.Equal(got, []string{"in/a=text"}) || len(s.Found()) > 0 {
		t.Errorf("it is %s: %s, with %v, and keeps %d files", st.State, st.Message, got, len(s.Found()))
	}
}
