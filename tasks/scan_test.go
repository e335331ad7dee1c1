package tasks

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lay makes files below a new directory, in order: "a/b=content", "a/b*=content"
// executable, "a/b->target" a symlink, "a/" a directory, "a|" a FIFO, "a%" a
// socket.
func lay(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		name, content, _ := strings.Cut(f, "=")
		link, target, isLink := strings.Cut(f, "->")
		at := filepath.Join(root, strings.TrimRight(name, "*/|%"))
		switch {
		case isLink:
			at = filepath.Join(root, link)
			must(os.MkdirAll(filepath.Dir(at), 0o755))
			must(os.Symlink(target, at))
		case strings.HasSuffix(f, "/"):
			must(os.MkdirAll(at, 0o755))
		case strings.HasSuffix(f, "|"):
			makePipe(t, at)
		case strings.HasSuffix(f, "%"):
			l, err := net.Listen("unix", at)
			must(err)
			t.Cleanup(func() { l.Close() })
		default:
			must(os.MkdirAll(filepath.Dir(at), 0o755))
			mode := os.FileMode(0o644)
			if strings.HasSuffix(name, "*") {
				mode = 0o755
			}
			must(os.WriteFile(at, []byte(content), mode))
		}
	}
	return root
}

// list shows entries the way lay takes them.
func list(found []file) []string {
	var all []string
	for _, f := range found {
		switch {
		case f.Dir:
			all = append(all, f.Path+"/")
		case f.Link != "":
			all = append(all, f.Path+"->"+f.Link)
		case f.Executable:
			all = append(all, f.Path+"*")
		default:
			all = append(all, f.Path)
		}
	}
	return all
}

func TestScanTree(t *testing.T) {
	for _, try := range []struct {
		name   string
		files  []string
		ignore []string
		want   []string
		err    string // a part of it, with ROOT for the directory
	}{
		{name: "empty"},
		{name: "plain", files: []string{"b=", "a/c=", "a/b*=", "a.txt="}, want: []string{"a/b*", "a/c", "a.txt", "b"}},
		{name: "hidden", files: []string{".git/x=", ".env="}, want: []string{".env", ".git/x"}},
		{name: "empty directories", files: []string{"a/b/", "c/d=", "e/"}, want: []string{"a/b/", "c/d", "e/"}},
		{name: "link", files: []string{"a/x=", "b/l->../a/x", "d->a"}, want: []string{"a/x", "b/l->../a/x", "d->a"}},
		{name: "dangling", files: []string{"l->nowhere/at/all"}, want: []string{"l->nowhere/at/all"}},
		{name: "through a file", files: []string{"f=", "l->f/x"}, want: []string{"f", "l->f/x"}},
		{name: "to the root itself", files: []string{"a/up->.."}, want: []string{"a/up->.."}},
		{name: "escapes", files: []string{"a/l->../../x"}, err: "ROOT: symlink a/l points to ../../x, which leads out of the directory (ignore it?)"},
		{name: "escapes to a file that is there", files: []string{"l->../../../../../../etc/passwd"}, err: "leads out"},
		{name: "absolute", files: []string{"l->/etc/passwd"}, err: "leads out"},
		{name: "absolute, within", files: []string{"a=", "l->ROOT/a"}, err: "leads out"},
		{name: "escapes by a link that stays within", files: []string{"a/b/up->../..", "l->a/b/up/../x"}, err: "leads out"},
		{name: "seems to escape", files: []string{"a/b/c/x=", "d->a/b/c", "l->d/../../x"}, want: []string{"a/b/c/x", "d->a/b/c", "l->d/../../x"}},
		{name: "through an absolute link", files: []string{"etc->/etc", "l->etc/passwd"}, ignore: []string{"etc"}, err: "leads out"},
		{name: "loop", files: []string{"a->b", "b->a"}, err: "ROOT: symlink a is part of a loop\nsymlink b is part of a loop"},
		{name: "loop of one", files: []string{"a->a"}, err: "is part of a loop"},
		{name: "pipe", files: []string{"a=", "p|"}, err: "ROOT: p is a named pipe; only files, directories and links can be evaluated (ignore it?)"},
		{name: "socket", files: []string{"s%"}, err: "ROOT: s is a socket"},
		{name: "pipe, ignored", files: []string{"a=", "p|"}, ignore: []string{"p"}, want: []string{"a"}},
		{name: "not UTF-8", files: []string{"a\xff="}, err: `ROOT: the file name "a\xff" is not valid UTF-8; rename it or add it to ignore`},
		{name: "not printable", files: []string{"a\x1b[2Jb|"}, err: `ROOT: "a\x1b[2Jb" is a named pipe`},
		{name: "target not UTF-8", files: []string{"a->b\xff"}, err: "is not valid UTF-8"},
		{name: "newline", files: []string{"a\nb="}, want: []string{"a\nb"}},
		{name: "ignore", files: []string{"a.py=", "a.pyc=", "p/a.pyc=", "p/__pycache__/x=", "__pycache__/y=", "q/b.py="}, ignore: []string{"**/*.pyc", "**/__pycache__/**"},
			want: []string{"a.py", "q/b.py"}},
		{name: "ignore prunes", files: []string{"venv/deep/p|", "venv/l->/etc", "a="}, ignore: []string{"venv"}, want: []string{"a"}},
		{name: "ignore is anchored", files: []string{"a/x=", "b/a/x="}, ignore: []string{"a"}, want: []string{"b/a/x"}},
		{name: "many", files: []string{"1|", "2|", "3|", "4|", "5|", "6|", "7|"}, err: "and 2 more"},
	} {
		t.Run(try.name, func(t *testing.T) {
			root := t.TempDir()
			for i := range try.files {
				try.files[i] = strings.ReplaceAll(try.files[i], "ROOT", root)
				if strings.HasPrefix(try.files[i], "venv/deep/p") {
					try.files = slices.Insert(try.files, i, "venv/deep/")
				}
			}
			root = lay(t, try.files...)
			found, err := scanTree(root, Doublestar(try.ignore), unobserved)
			if try.err == "" {
				if err != nil || !slices.Equal(list(found), try.want) {
					t.Errorf("got %q, %v; want %q", list(found), err, try.want)
				}
				return
			}
			if want := strings.ReplaceAll(try.err, "ROOT", root); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, %v; want %s", list(found), err, want)
			}
		})
	}
}

func TestScanPlain(t *testing.T) {
	root := lay(t, "main.py=", "bin/run*=", "bin/also->run", "bin/out->../../x", "abs->/etc/passwd", "loop->loop", "gone->nowhere", "dir->bin",
		"deep/none/", "d/", "p|", "s%", "d/p|", "venv/l->/etc", "venv/x=", "a\nb=")
	kinds := []omission{{"abs", "symbolic link"}, {"bin/also", "symbolic link"}, {"bin/out", "symbolic link"}, {"d/p", "named pipe"}, {"deep/none", "empty directory"},
		{"dir", "symbolic link"}, {"gone", "symbolic link"}, {"loop", "symbolic link"}, {"p", "named pipe"}, {"s", "socket"}}
	if makeDevice(filepath.Join(root, "null")) == nil { // root can
		kinds = slices.Insert(kinds, 8, omission{"null", "device"})
	}
	found, omitted, err := scanPlain(root, Doublestar([]string{"venv/**"}), unobserved)
	if want := []string{"a\nb", "bin/run", "main.py"}; err != nil || !slices.Equal(list(found), want) {
		t.Errorf("got %q, %v; want %q", list(found), err, want)
	}
	if !slices.Equal(omitted, kinds) {
		t.Errorf("left out %v, want %v", omitted, kinds)
	}
}

// TestScanThroughLink: scanning a symlink to a root scans its target.
func TestScanThroughLink(t *testing.T) {
	root := lay(t, "real/a/x=", "real/l->a/x", "link->real")
	found, err := scanTree(filepath.Join(root, "link"), nil, unobserved)
	if want := []string{"a/x", "l->a/x"}; err != nil || !slices.Equal(list(found), want) {
		t.Errorf("got %q, %v; want %q", list(found), err, want)
	}
}

func TestScanUnreadable(t *testing.T) {
	if _, err := scanTree(filepath.Join(t.TempDir(), "gone"), nil, unobserved); err == nil || !os.IsNotExist(err) {
		t.Errorf("a root that is not there: %v", err)
	}
	root := lay(t, "a=")
	if found, err := scanTree(filepath.Join(root, "a"), nil, unobserved); err == nil && len(found) > 0 {
		t.Errorf("a file for a root: %q", list(found))
	}
	if os.Getuid() == 0 {
		return // everything is readable
	}
	root = lay(t, "a=", "d/x=")
	if err := os.Chmod(filepath.Join(root, "d"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(root, "d"), 0o755) })
	if found, err := scanTree(root, nil, unobserved); err == nil {
		t.Errorf("a directory that cannot be read is left out: %q", list(found))
	}
	if found, omitted, err := scanPlain(root, nil, unobserved); err == nil {
		t.Errorf("a directory that cannot be read is left out: %q and %v", list(found), omitted)
	}
}

// BenchmarkScan looks through a large submission.
func BenchmarkScan(b *testing.B) {
	root := b.TempDir()
	for d := range 100 {
		dir := filepath.Join(root, fmt.Sprintf("package_%02d", d))
		if err := os.Mkdir(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 100 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("module_%02d.py", f)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	patterns := []string{"*.pyc", "venv/*", ".venv/*", ".evaluation_tests/*", "tests/assets", "tests/assets/*", "files", "files/*"}
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			if found, err := scanTree(root, Doublestar(patterns), unobserved); err != nil || len(found) != 10_000 {
				b.Fatal(len(found), err)
			}
		}
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if found, _, err := scanPlain(root, Fnmatch(patterns), unobserved); err != nil || len(found) != 10_000 {
				b.Fatal(len(found), err)
			}
		}
	})
}

func TestScanFile(t *testing.T) {
	root := lay(t, "x*=", "d/", "p|", "link->x", "b\xff=")
	for _, try := range []struct{ name, want, err string }{
		{name: "x", want: "y*"},
		{name: "link", want: "y*"}, // named by the user, so followed
		{name: "d", err: "not a regular file but a directory"},
		{name: "p", err: "not a regular file but a named pipe"},
		{name: "gone", err: "no such file"},
	} {
		found, err := scanFile(filepath.Join(root, try.name), "y", unobserved)
		if try.err != "" {
			if err == nil || !strings.Contains(err.Error(), try.err) {
				t.Errorf("%s: %v, want %s", try.name, err, try.err)
			}
		} else if err != nil || fmt.Sprint(list(found)) != "["+try.want+"]" {
			t.Errorf("%s: %q, %v", try.name, list(found), err)
		}
	}
	if _, err := scanFile(filepath.Join(root, "b\xff"), "b\xff", unobserved); err == nil {
		t.Error("a name that is not UTF-8: no error")
	}
}

// scanPlain lists only the regular files below root, and its other entries.
func scanPlain(root string, ignore Ignore, observe observer) (found []file, omitted []omission, err error) {
	s := scan{observe: observe}
	err = s.walk(root, ignore, s.plain)
	return s.found, s.omitted, err
}

func unobserved(string, string) {}
