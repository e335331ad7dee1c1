package command

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
)

// The command, or programs before it, create the tree that tar packs: no entry escapes from the output.
func TestUnpackedArchives(t *testing.T) {
	type entry struct {
		name, link string
		kind       byte
		mode       int64
	}
	dir := func(name string) entry { return entry{name: name, kind: tar.TypeDir} }
	file := func(name string) entry { return entry{name: name, kind: tar.TypeReg, mode: 0o644} }
	for _, one := range []struct {
		name    string
		kind    string
		entries []entry
		want    string // entries, or the error
	}{
		{"tree", kindTree, []entry{dir("out/"), dir("out/empty/"), {name: "out/run", kind: tar.TypeReg, mode: 0o755}, file("out/a/b"), {name: "out/a/l", link: "../run", kind: tar.TypeSymlink}},
			"empty dir, run executable, a/b, a/l -> ../run"},
		{"hard link", kindTree, []entry{dir("out"), file("out/a"), {name: "out/b", link: "out/a", kind: tar.TypeLink}}, "a, b"},
		{"hard link out", kindTree, []entry{dir("out"), {name: "out/b", link: "../etc/passwd", kind: tar.TypeLink}}, `b is a link to "../etc/passwd", which is not in it`},
		{"link out", kindTree, []entry{dir("out"), {name: "out/l", link: "a/../../x", kind: tar.TypeSymlink}}, `l is a link that points outside of it, to "a/../../x"`},
		{"absolute link", kindTree, []entry{dir("out"), {name: "out/l", link: "/etc/passwd", kind: tar.TypeSymlink}}, "l is a link that points outside of it"},
		{"outside", kindTree, []entry{dir("out"), file("out/../../x")}, `"out/../../x" is outside of it`},
		{"absolute", kindTree, []entry{file("/out/x")}, `"/out/x" is outside of it`},
		{"beside", kindTree, []entry{file("output/x")}, "is outside of it"},
		{"device", kindTree, []entry{dir("out"), {name: "out/null", kind: tar.TypeChar}}, "null is neither a file nor a directory nor a link"},
		{"pipe", kindTree, []entry{dir("out"), {name: "out/p", kind: tar.TypeFifo}}, "p is neither a file"},
		{"name", kindTree, []entry{dir("out"), file("out/\xff")}, `the name "\xff" is not UTF-8`},
		{"file for a tree", kindTree, []entry{file("out")}, "out is not a directory"},
		{"link for a tree", kindTree, []entry{{name: "out", link: "/etc", kind: tar.TypeSymlink}}, "out is not a directory"},
		{"file", kindFile, []entry{{name: "out", kind: tar.TypeReg, mode: 0o700}}, "out executable"},
		{"tree for a file", kindFile, []entry{dir("out/"), file("out/x")}, "out is not a regular file"},
		{"link for a file", kindFile, []entry{{name: "out", link: "/etc/passwd", kind: tar.TypeSymlink}}, "out is not a regular file"},
		{"any file", kindAny, []entry{{name: "out", kind: tar.TypeReg, mode: 0o700}}, "out executable"},
		{"any directory", kindAny, []entry{dir("out/"), file("out/x"), {name: "out/l", link: "x", kind: tar.TypeSymlink}, {name: "out/h", link: "out/x", kind: tar.TypeLink}}, "out dir, out/x, out/l -> x, out/h"},
		{"any link", kindAny, []entry{{name: "out", link: "/etc", kind: tar.TypeSymlink}}, "out is neither a file nor a directory"},
		{"any link out", kindAny, []entry{dir("out"), {name: "out/l", link: "../x", kind: tar.TypeSymlink}}, `l is a link that points outside of it, to "../x"`},
	} {
		t.Run(one.name, func(t *testing.T) {
			var archive bytes.Buffer
			w := tar.NewWriter(&archive)
			for _, e := range one.entries {
				if err := w.WriteHeader(&tar.Header{Name: e.name, Linkname: e.link, Typeflag: e.kind, Mode: e.mode}); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			store, err := cache.OpenDisk(t.TempDir(), cache.Options{})
			if err != nil {
				t.Fatal(err)
			}
			u := unpacker{root: "out", kind: one.kind, store: store, files: map[string]cache.Entry{}}
			entries, err := u.all(t.Context(), tar.NewReader(&archive))
			got := ""
			for _, e := range entries {
				got += ", " + e.Path
				switch {
				case e.Dir:
					got += " dir"
				case e.Executable:
					got += " executable"
				case e.Link != "":
					got += " -> " + e.Link
				}
			}
			if err != nil {
				got = err.Error()
			}
			if got = strings.TrimPrefix(got, ", "); err == nil && got != one.want || err != nil && !strings.Contains(got, one.want) {
				t.Errorf("got %s, want %s", got, one.want)
			}
		})
	}
}

// Files that a tree cannot contain are omitted from an answer, and reported.
func TestOmitted(t *testing.T) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, h := range []tar.Header{
		{Name: "srv/out", Typeflag: tar.TypeDir}, {Name: "srv/out/a", Typeflag: tar.TypeReg}, {Name: "srv/out/null", Typeflag: tar.TypeChar},
		{Name: "srv/out/l", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}, {Name: "srv/out/b", Linkname: "a", Typeflag: tar.TypeSymlink},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var omitted []string
	u := unpacker{root: "srv/out", kind: kindAny, store: cache.NewMemory(), files: map[string]cache.Entry{}, omit: func(why string) { omitted = append(omitted, why) }}
	entries, err := u.all(t.Context(), tar.NewReader(&archive))
	var names []string
	for _, e := range entries {
		names = append(names, e.Path)
	}
	if err != nil || strings.Join(names, " ") != "out out/a out/b" || len(omitted) != 2 {
		t.Errorf("%v: %v, without %v", err, names, omitted)
	}
}

func TestMetrics(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1, "b.c-d": -2.5e3}`: "map[a:1 b.c-d:-2500]",
		`{}`:                        "map[]",
		`null`:                      "expected a JSON object of numbers",
		`{"a": null}`:               `the value of "a" is not a number`,
		`{"a": NaN}`:                "expected a JSON object of numbers",
		`{"a": 1e400}`:              `the value of "a" is not a number`,
		`{"": 1}`:                   `"" cannot name a metric`,
		`{"a b": 1}`:                `"a b" cannot name a metric`,
		`{"a": {"b": 1}}`:           `the value of "a" is not a number`,
		`{"a": 1} {"b": 2}`:         "expected a JSON object of numbers",
	} {
		values, err := parseMetrics([]byte(text))
		got := fmt.Sprint(values)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	many := "{"
	for i := range maxMetrics + 1 {
		many += fmt.Sprintf("\"m%d\": 1, ", i)
	}
	if _, err := parseMetrics([]byte(strings.TrimSuffix(many, ", ") + "}")); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("many metrics: %v", err)
	}
}

func FuzzMetrics(f *testing.F) {
	f.Add([]byte(`{"a": 1}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		values, err := parseMetrics(content)
		if (values == nil) != (err != nil) {
			t.Errorf("%q: %v, %v", content, values, err)
		}
	})
}

// shell is a session whose commands run in a directory of this machine.
type shell struct {
	backend.Session
	dir string
}

func (s shell) Exec(ctx context.Context, c backend.Command) (backend.Exit, error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, c.Output, c.Output
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
		return backend.Exit{}, err
	}
	return backend.Exit{Code: cmd.ProcessState.ExitCode()}, nil
}

func (s shell) Collect(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(s.dir, name))
}

// TestSocketInOutput tests that a socket, which tar leaves out, is an error, and not a file less.
func TestSocketInOutput(t *testing.T) {
	if _, err := exec.LookPath("tar"); err != nil {
		t.Skip("tar not found")
	}
	s, err := shell{dir: t.TempDir()}, error(nil)
	if err = os.MkdirAll(filepath.Join(s.dir, "out"), 0o755); err == nil {
		err = os.WriteFile(filepath.Join(s.dir, "out", "kept: socket ignored"), nil, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	keep := func() error {
		_, err := packed(t.Context(), &Task{}, s, cache.NewMemory(), "out", kindTree)
		return err
	}
	if err := keep(); err != nil {
		t.Fatalf("without a socket: %v", err)
	}
	t.Chdir(s.dir) // a socket's path has to be short
	l, err := net.Listen("unix", "out/s")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	if err := keep(); err == nil || !strings.Contains(err.Error(), "out/s is a socket, which cannot be stored") {
		t.Errorf("with a socket: %v", err)
	}
}

// A file that tar cannot read for lack of permissions is the command's failure, by name; other failures of tar are
// the machine's.
func TestUnreadableOutput(t *testing.T) {
	for _, try := range []struct {
		name, prints, want string
		failed             bool
	}{
		{"GNU's tar", "tar: out/a b: Cannot open: Permission denied\ntar: Exiting with failure status due to previous errors", "out/a b cannot be read", true},
		{"a directory", "tar: out/sub: Cannot stat: Permission denied\ntar: Exiting with failure status", "out/sub cannot be read", true},
		{"BusyBox", "tar: can't open 'out/a': Permission denied\ntar: error exit delayed from previous errors", "out/a cannot be read", true},
		{"a full disk", "tar: .fevalgraph-output.tar: Wrote only 2048 of 10240 bytes\ntar: Error is not recoverable: exiting now", "packing out: exit code 2: tar: Error", false},
		{"a damaged disk", "tar: out/a: Read error at byte 0, while reading 512 bytes: Input/output error", "packing out: exit code 2: tar: out/a: Read error", false},
		{"the archive", "tar: .fevalgraph-output.tar: Cannot open: Permission denied\ntar: Error is not recoverable: exiting now", "packing out: exit code 2", false},
	} {
		s := shell{dir: t.TempDir()}
		for name, text := range map[string]string{"out": "", "bin/tar": "#!/bin/sh\ncat >&2 <<'END'\n" + try.prints + "\nEND\nexit 2\n"} {
			at := filepath.Join(s.dir, name)
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", filepath.Join(s.dir, "bin")+":/usr/bin:/bin")
		_, err := packed(t.Context(), &Task{}, s, cache.NewMemory(), "out", kindFile)
		var failed *graph.FailedError
		if err == nil || !strings.Contains(err.Error(), try.want) || errors.As(err, &failed) != try.failed {
			t.Errorf("%s: %v, want %s, failed %v", try.name, err, try.want, try.failed)
		}
	}
}
