package tasks

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
)

// refusal describes s and returns why it is refused, "" if it is not.
func refusal(t *testing.T, s *Source) (string, error) {
	t.Helper()
	err := s.Describe(t.Context(), new(graph.Manifest))
	o, refused, put := s.Refusal(t.Context(), cache.NewMemory())
	if put != nil || refused != graph.Refused(o.Outputs) {
		t.Errorf("outputs %v, %v", o.Outputs, put)
	}
	return o.Message, err
}

func TestSubmissionRefused(t *testing.T) {
	for _, try := range []struct {
		file string // as lay takes it
		want string
		one  string // where the file is all of the submission
	}{
		{"d/l->../../x", "symlink d/l points to ../../x, which leads out of the directory (ignore it?)", ""},
		{"l->/etc/passwd", "symlink l points to /etc/passwd, which leads out of the directory (ignore it?)", ""},
		{"l->l", "symlink l is part of a loop", ""},
		{"d/p|", "d/p is a named pipe; only files, directories and links can be evaluated (ignore it?)", "not a regular file but a named pipe"},
		{"s%", "s is a socket; only files, directories and links can be evaluated (ignore it?)", "not a regular file but a socket"},
		{"a\xff=", `the file name "a\xff" is not valid UTF-8; rename it or add it to ignore`, ""},
		{"l->\xff", `the target "\xff" of symlink l is not valid UTF-8`, ""},
		{"two\nlines->/", `symlink "two\nlines" points to /, which leads out of the directory (ignore it?)`, ""},
	} {
		laid := []string{"main.py=1", "d/", try.file}
		root, sources := lay(t, laid...), Sources{States: read{}, Submitted: true}
		if why, err := refusal(t, NewSubmission(Submission{Source: root, Target: "answer"}, sources)); err != nil || why != try.want {
			t.Errorf("%q: %q, %v; want %q", try.file, why, err, try.want)
		}
		sources.Submitted = false
		if why, err := refusal(t, NewTests(Tests{Root: root}, sources)); why != "" || !graph.IsInput(err) {
			t.Errorf("%q among tests: %q, %v", try.file, why, err)
		}
		if try.one == "" {
			continue
		}
		sources.Submitted = true
		one := filepath.Join(root, strings.TrimRight(try.file, "|%"))
		for _, s := range []*Source{NewSubmission(Submission{Source: one}, sources), NewNamed([]Named{{Name: "main.cpp", Abs: one}}, nil, sources)} {
			if why, err := refusal(t, s); err != nil || why != try.one {
				t.Errorf("%q alone: %q, %v; want %q", try.file, why, err, try.one)
			}
		}
	}
}

// Errors outside the submission are not refusals.
func TestSubmissionNotRefused(t *testing.T) {
	root := lay(t, "a=1", "p|", "loop->loop", "dir/b=2")
	sources := Sources{States: failing{}, Submitted: true}
	for source, want := range map[string]string{"gone": "no such file", "loop": "too many", "a/b": "not a directory", "dir": "input/output error"} {
		why, err := refusal(t, NewSubmission(Submission{Source: filepath.Join(root, source)}, sources))
		if why != "" || !graph.IsInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want an error with %q", source, why, err, want)
		}
	}
}

// failing cannot read a byte of anything.
type failing struct{}

func (failing) Digest(path string, _ fs.FileInfo) (cache.Digest, error) {
	return cache.Digest{}, &fs.PathError{Op: "read", Path: path, Err: syscall.EIO}
}

// A file that is not readable is seen as it was when it was not read.
func TestSubmissionDenied(t *testing.T) {
	root := lay(t, "d/a=1")
	var seen []string
	sources := Sources{States: deniedStates{}, Submitted: true, Observe: func(kind, name string) { seen = append(seen, kind+" "+name) }}
	why, err := refusal(t, NewSubmission(Submission{Source: root}, sources))
	if err != nil || why != "d/a cannot be read: permission denied" {
		t.Errorf("%q, %v", why, err)
	}
	if last := seen[len(seen)-1]; last != "file "+filepath.Join(root, "d", "a") {
		t.Errorf("observed %q", seen)
	}
	sources.Submitted = false
	if why, err := refusal(t, NewSubmission(Submission{Source: root}, sources)); why != "" || !graph.IsInput(err) {
		t.Errorf("no submission: %q, %v", why, err)
	}
}

// The key contains the reason, but not the path of the submission.
func TestRefusedKeys(t *testing.T) {
	key := func(files ...string) cache.Key {
		store := cache.NewMemory()
		s := NewSubmission(Submission{Source: lay(t, files...)}, Sources{States: read{}, Store: store, Submitted: true})
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
		if st.State != "done" || !graph.Refused(st.Outputs) || planned.Status(id).Key != st.Key || planned.Status(id).Outputs[0] != st.Outputs[0] {
			t.Errorf("%q: %+v; planned %v", files, st, planned.Status(id).Outputs)
		}
		return st.Key
	}
	if key("p|", "a=1") != key("p|", "a=2") || key("p|") == key("q|") {
		t.Error("a key of something else than the reason")
	}
}

// Too large files are refused before a byte is read.
func TestSubmissionLimits(t *testing.T) {
	root := lay(t, "a=12345", "b/c=678", "link->a", "venv/ignored=1234567890", "empty/")
	for name, try := range map[string]struct {
		source string
		limits Limits
		plain  bool
		want   string // of the reason; "" means none
	}{
		"fits":           {"", Limits{Bytes: 8, Entries: 5}, false, ""},
		"plain fits":     {"", Limits{Bytes: 8, Entries: 5}, true, ""},
		"bytes":          {"", Limits{Bytes: 7}, false, "8 bytes in 2 files; a has 5 bytes; the limit is 7 bytes"},
		"plain, bytes":   {"", Limits{Bytes: 7}, true, `raise max_submission_size of the problem`},
		"entries":        {"", Limits{Entries: 4}, false, "more than 4 files, links and directories (hint:"},
		"plain, entries": {"", Limits{Entries: 4}, true, `raise max_submission_files of the problem`},
		"file":           {"a", Limits{Bytes: 4, Entries: 1}, false, "too large: 5 bytes; the limit is 4 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			sources := Sources{States: unread{}, Submitted: true, Limits: try.limits}
			if try.want == "" {
				sources.States = read{}
			}
			sub := Submission{Source: filepath.Join(root, try.source), Plain: try.plain, Ignore: Doublestar([]string{"venv/**"})}
			why, err := refusal(t, NewSubmission(sub, sources))
			if err != nil || (why == "") != (try.want == "") || !strings.Contains(why, try.want) || strings.Contains(why, root) {
				t.Errorf("%q, %v; want %q", why, err, try.want)
			}
		})
	}
}

// A file that is made small while the submission is looked at is judged as what it is.
func TestSubmissionShrinks(t *testing.T) {
	root := lay(t, "a=12345")
	sources := Sources{States: read{}, Submitted: true, Limits: Limits{Bytes: 4}}
	sources.Observe = func(kind, name string) {
		if kind == "file" {
			if err := os.WriteFile(name, []byte("1"), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
	s := NewSubmission(Submission{Source: root}, sources)
	if why, err := refusal(t, s); why != "" || err != nil || s.Found()[0].Digest.Size != 1 {
		t.Errorf("%q, %v, %v", why, err, s.Found())
	}
}
