package separate_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/separate"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// realVariable has tests run Python.
const realVariable = "FEVALGRAPH_TEST_REAL"

func python(t *testing.T, argv []string, env ...string) {
	t.Helper()
	if os.Getenv(realVariable) == "" {
		t.Skipf("needs Python: set %s=1, or use `make test-all`", realVariable)
	}
	cmd := exec.Command("python3", append([]string{"-B"}, argv...)...)
	// Sessions ignore the caller's Python settings, such as PYTHONUNBUFFERED.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PYTHON") })
	cmd.Env = append(cmd.Env, env...)
	if said, err := cmd.CombinedOutput(); err != nil || !strings.HasSuffix(string(said), "ok\n") {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestValues reads written and damaged values, with fixed seeds.
func TestValues(t *testing.T) {
	python(t, []string{"testdata/values.py", ".", "20000"})
}

// TestModules: a grader imports modules of testdata/submission, and uses them in every way.
func TestModules(t *testing.T) {
	for _, end := range []string{"exit", "much"} {
		t.Run(end, func(t *testing.T) {
			m := &separate.Modules{Reads: []string{"granted"}}
			dir := lay(t, m, os.DirFS("testdata/submission"))
			env, err := m.Begin(t.Context(), workspace(dir), session.Environment{
				{Name: "GRADERS_SECRET", Value: "x", Secret: "s"}, {Name: "GRADERS_SETTING", Value: "1"},
			})
			if err != nil {
				t.Fatal(err)
			}
			// A home directory within the workspace would be the submission's to read.
			python(t, []string{"testdata/modules.py", dir, end}, append(env, "GRADERS_SECRET=x", "GRADERS_SETTING=1", "TMPDIR="+t.TempDir())...)
			var said strings.Builder
			if err := errors.Join(m.Usable(t.Context(), workspace(dir), nil), m.Printed(t.Context(), workspace(dir), &said)); err != nil || !strings.HasPrefix(said.String(), "100 100\n") {
				t.Errorf("printed %q, %v", said.String(), err)
			}
		})
	}
}

// TestUnusable: no verdict depends on a process that was not confined.
func TestUnusable(t *testing.T) {
	m := &separate.Modules{}
	dir := lay(t, m, os.DirFS("testdata/submission"))
	if err := os.WriteFile(filepath.Join(dir, ".separate", "unusable"), []byte("no Landlock"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.Usable(t.Context(), workspace(dir), nil); err == nil || !strings.Contains(err.Error(), "(no Landlock)") {
		t.Errorf("got %v", err)
	}
	for code, want := range map[int]bool{0: true, 1: false, 127: false} { // a program of the submission left it, or not
		err := m.Usable(t.Context(), workspace(dir), func(context.Context, []backend.Input, []string) (backend.Exit, error) {
			return backend.Exit{Code: code}, nil
		})
		if (err == nil) != want {
			t.Errorf("a probe that ended with %d: %v", code, err)
		}
	}
}

// TestStandIns leaves no code of a submission, and nothing that leads to it, where a grader imports from.
func TestStandIns(t *testing.T) {
	ctx, s := t.Context(), cache.NewMemory()
	entries := []cache.Entry{{Path: "link", Link: ".separate/submission"}, {Path: "linked.py", Link: "data.txt"}, {Path: "empty", Dir: true}, {Path: "named.py", Dir: true}}
	for _, name := range []string{"a.py", "sub/b.py", "data.txt", "c.so", "sub/d.cpython-311-x86_64-linux-gnu.so", "e.pyc", "f.pyd", ".separate/g.txt", "x.pth"} {
		g, err := cache.PutBytes(ctx, s, []byte("real"))
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, cache.Entry{Path: name, Digest: g, Executable: name == "a.py"})
	}
	tree := store(t, s, entries)
	inputs, err := (&separate.Modules{}).Inputs(ctx, s, tree)
	if err != nil {
		t.Fatal(err)
	}
	if inputs[2].Path != ".separate/submission" || inputs[2].Tree != tree {
		t.Errorf("the submission is %v at %s", inputs[2].Tree, inputs[2].Path)
	}
	var got []string
	if err := cache.WalkTree(ctx, s, inputs[0].Tree, func(e cache.Entry) error {
		real, err := cache.PutBytes(ctx, s, []byte("real"))
		if err != nil {
			return err
		}
		switch {
		case e.Dir:
			e.Path += "/"
		case e.Digest == real:
			e.Path += " as it is"
		case e.Executable:
			e.Path += " executable"
		}
		got = append(got, e.Path)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"a.py executable", "data.txt as it is", "empty/", "linked.py", "named.py/", "sub/", "sub/b.py"}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the grader sees %q, not %q", got, want)
	}
}

// TestDescribe: the key contains everything that can change how modules behave.
func TestDescribe(t *testing.T) {
	key := func(m separate.Modules) string {
		var manifest graph.Manifest
		m.Describe(&manifest)
		return manifest.Key().String()
	}
	if key(separate.Modules{}) == key(separate.Modules{Programs: true}) {
		t.Error("whether programs are confined is in no key")
	}
	if key(separate.Modules{}) == key(separate.Modules{Reads: []string{"data"}}) {
		t.Error("no key contains the readable paths of the process")
	}
}

// TestImports finds the trees whose files import a module.
func TestImports(t *testing.T) {
	ctx, s := t.Context(), cache.NewMemory()
	var search separate.Search
	for _, c := range []struct {
		file, content string
		want          bool
	}{
		{"grade.py", "import sys\nimport solution\n", true},
		{"a/grade.py", "from answer import solution", true},
		{"grade.py", "spec = importlib.util.spec_from_file_location(name, path)", true},
		{"grade.py", "subprocess.run(['python3', 'solution.py'])", false},
		{"grade.txt", "import solution", false},
	} {
		g, err := cache.PutBytes(ctx, s, []byte(c.content))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got, err := search.Imports(ctx, s, store(t, s, []cache.Entry{{Path: c.file, Digest: g}}), "answer/solution.py")
			if err != nil || got != c.want {
				t.Errorf("%s: %q: %t, %v", c.file, c.content, got, err)
			}
		}
	}
}

func store(t *testing.T, s cache.Store, entries []cache.Entry) cache.Digest {
	t.Helper()
	tree, err := cache.BuildTree(entries)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Store(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return tree.Root
}

// lay makes a workspace with a submission.
func lay(t *testing.T, m *separate.Modules, submission fs.FS) string {
	t.Helper()
	s := cache.NewMemory()
	var entries []cache.Entry
	err := fs.WalkDir(submission, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(submission, name)
		if err != nil {
			return err
		}
		g, err := cache.PutBytes(t.Context(), s, content)
		entries = append(entries, cache.Entry{Path: name, Digest: g})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := m.Inputs(t.Context(), s, store(t, s, entries))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range inputs {
		if in.Content != nil {
			if err := workspace(dir).Place(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			continue
		}
		at := filepath.Join(dir, in.Path)
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(at)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		if err := cache.PlaceTree(t.Context(), s, in.Tree, root, "."); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// workspace is a session that only has files.
type workspace string

func (w workspace) Dir() string { return string(w) }

func (w workspace) Place(_ context.Context, inputs ...backend.Input) error {
	for _, in := range inputs {
		file := filepath.Join(string(w), in.Path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, in.Content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (w workspace) Collect(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(string(w), name))
}
