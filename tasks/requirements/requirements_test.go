//go:build unix

package requirements

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
)

func load(t *testing.T, path string) *Lock {
	t.Helper()
	l, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	l := load(t, path) // a missing one is empty
	if _, ok := l.Pins("3.12", "linux/amd64", []string{"pytest"}); ok {
		t.Error("an empty lock has pins")
	}
	if err := l.Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("saving without a change made a file: %v", err)
	}
	l.Put(Set{Python: "3.12", Platform: "linux/amd64", Requires: []string{"pytest>=8", "attrs", "pytest>=8"}, Pins: []string{"pytest==8.4.2", "attrs==25.3.0"}})
	l.Put(Set{Python: "3.11", Platform: "linux/arm64", Requires: []string{"pytest"}, Pins: []string{"pytest==8.4.1"}})
	l.Put(Set{Python: "3.11", Platform: "linux/amd64", Requires: []string{"pytest"}, Pins: []string{"pytest==8.0.0"}})
	l.Put(Set{Python: "3.11", Platform: "linux/amd64", Requires: []string{"pytest"}, Pins: []string{"pytest==8.4.2"}}) // replaces
	if err := l.Save(path); err != nil {
		t.Fatal(err)
	}
	const want = `{
  "comment": "Pinned requirements. Made by fevalgraph; renew with ` + "`fevalgraph lock --upgrade`" + `.",
  "schema": 1,
  "sets": [
    {
      "python": "3.11",
      "platform": "linux/amd64",
      "requires": [
        "pytest"
      ],
      "pins": [
        "pytest==8.4.2"
      ]
    },
    {
      "python": "3.11",
      "platform": "linux/arm64",
      "requires": [
        "pytest"
      ],
      "pins": [
        "pytest==8.4.1"
      ]
    },
    {
      "python": "3.12",
      "platform": "linux/amd64",
      "requires": [
        "attrs",
        "pytest>=8"
      ],
      "pins": [
        "attrs==25.3.0",
        "pytest==8.4.2"
      ]
    }
  ]
}
`
	if got, _ := os.ReadFile(path); string(got) != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}

	l = load(t, path)
	pins, ok := l.Pins("3.12", "linux/amd64", []string{"attrs", "pytest>=8", "attrs"})
	if !ok || !slices.Equal(pins, []string{"attrs==25.3.0", "pytest==8.4.2"}) {
		t.Errorf("%q, %v", pins, ok)
	}
	for _, q := range []Set{
		{Python: "3.13", Platform: "linux/amd64", Requires: []string{"pytest"}}, {Python: "3.11", Platform: "darwin/arm64", Requires: []string{"pytest"}},
		{Python: "3.11", Platform: "linux/amd64", Requires: []string{"pytest", "attrs"}}, {Python: "3.11", Platform: "linux/amd64"},
	} {
		if pins, ok := l.Pins(q.Python, q.Platform, q.Requires); ok {
			t.Errorf("%+v has %q", q, pins)
		}
	}

	// Without changes, nothing is written: not even a file in another form.
	if err := os.WriteFile(path, []byte(want+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l = load(t, path)
	if len(l.Keep(func(Set) bool { return true })) != 0 || l.Save(path) != nil {
		t.Error("saving")
	}
	if got, _ := os.ReadFile(path); string(got) != want+"\n" {
		t.Error("a lock that did not change was written")
	}
	if dropped := l.Keep(func(s Set) bool { return s.Python == "3.12" }); len(dropped) != 2 {
		t.Errorf("dropped: %s", dropped)
	}
	if err := l.Save(path); err != nil || len(load(t, path).sets) != 1 {
		t.Errorf("%v; %+v", err, load(t, path).sets)
	}
}

// TestLockTextIsCanonical: the order of sets does not affect the text.
func TestLockTextIsCanonical(t *testing.T) {
	sets := []Set{
		{Python: "3.11", Platform: "p", Requires: []string{"a"}, Pins: []string{"a==1", "z==1"}},
		{Python: "3.11", Platform: "p", Requires: []string{"a", "b"}, Pins: []string{"b==1", "a==1"}},
		{Python: "3.12", Platform: "o", Requires: []string{"a"}, Pins: []string{"a==1"}},
	}
	var texts []string
	for range 2 {
		path := filepath.Join(t.TempDir(), FileName)
		l := &Lock{}
		for _, s := range sets {
			l.Put(s)
		}
		if err := l.Save(path); err != nil {
			t.Fatal(err)
		}
		b, _ := os.ReadFile(path)
		texts = append(texts, string(b))
		slices.Reverse(sets)
	}
	if texts[0] != texts[1] {
		t.Errorf("%s\nand\n%s", texts[0], texts[1])
	}
}

func TestPreferences(t *testing.T) {
	l := &Lock{}
	l.Put(Set{Python: "3.11", Platform: "p", Requires: []string{"a"}, Pins: []string{"a==1.0", "pytest==8.0"}})
	l.Put(Set{Python: "3.11", Platform: "p", Requires: []string{"b"}, Pins: []string{"b==2.0", "pytest==8.1", "x[y]==1", "z @ https://host/z.whl"}})
	l.Put(Set{Python: "3.12", Platform: "p", Requires: []string{"c"}, Pins: []string{"c==3.0"}})
	if got, want := l.Preferences("3.11", "p"), []string{"a==1.0", "b==2.0", "pytest==8.0", "x[y]==1", "z @ https://host/z.whl"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := l.Preferences("3.13", "p"); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

func TestLoadRefuses(t *testing.T) {
	set := func(s string) string { return `{"schema":1,"sets":[` + s + `]}` }
	for name, try := range map[string]struct{ content, want string }{
		"empty":          {"", "is not a lock file"},
		"conflict":       {"<<<<<<< yours\n{}", "is not a lock file"},
		"truncated":      {`{"schema":1,"sets":[`, "is not a lock file"},
		"appended":       {set("") + "{}", "is not a lock file"},
		"newer":          {`{"schema":2,"sets":[]}`, "has schema 2, this version reads 1"},
		"no schema":      {`{}`, "has schema 0"},
		"no pins":        {set(`{"python":"3.11","platform":"p","requires":["a"],"pins":[]}`), "is damaged: set 1: requires or pins is empty"},
		"no requires":    {set(`{"python":"3.11","platform":"p","pins":["a==1"]}`), "requires or pins is empty"},
		"no interpreter": {set(`{"platform":"p","requires":["a"],"pins":["a==1"]}`), "python or platform is missing"},
		"floating":       {set(`{"python":"3.11","platform":"p","requires":["a"],"pins":["a==1","b>=2"]}`), `"b>=2" pins no version`},
	} {
		path := filepath.Join(t.TempDir(), FileName)
		if err := os.WriteFile(path, []byte(try.content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), try.want) || !strings.Contains(err.Error(), "fevalgraph lock --upgrade") || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v, want %s", name, err, try.want)
		}
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("a directory is a lock file")
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"schema":1,"sets":[{"python":"3.11","platform":"p","requires":["a"],"pins":["a==1"]}]}`))
	f.Add([]byte(`{"schema":1,"sets":null}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), FileName)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := Load(path)
		if err != nil {
			return
		}
		l.Put(Set{Python: "3.11", Platform: "p", Requires: []string{"a"}, Pins: []string{"a==1"}})
		if err := l.Save(path); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err != nil {
			t.Errorf("what was saved does not load: %v", err)
		}
	})
}

// fakeUV returns a shell script that replaces uv.
func fakeUV(t *testing.T, script string) *UV {
	t.Helper()
	path := filepath.Join(t.TempDir(), "uv")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return &UV{Program: path, Env: []string{"PATH=/usr/bin:/bin", "GREETING=hello"}, Scratch: filepath.Join(t.TempDir(), "state", "locking")}
}

// shows is a script that records its call: the last argument names the requirements, the argument before it the
// output file.
const shows = `
for last; do :; done
while [ "$1" != --output-file ]; do said="$said $1"; shift; done
{ echo "args==$(echo $said | tr ' ' ,)"
  sed 's/^/required==/' "$last"
  sed 's/^/preferred==/' "$2"
  echo "env==$GREETING$HOME # comment"
  echo
  echo "# via nothing"; } > "$2.new"
mv "$2.new" "$2"
`

func TestResolve(t *testing.T) {
	uv := fakeUV(t, shows)
	got, err := uv.Resolve(t.Context(), "/usr/bin/python3", []string{"pytest", "attrs>=1"}, []string{"pytest==8.4.2"})
	want := []string{"args==pip,compile,--quiet,--no-config,--no-header,--no-annotate,--generate-hashes,--python,/usr/bin/python3", "env==hello", "preferred==pytest==8.4.2", "required==attrs>=1", "required==pytest"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
	if left, _ := os.ReadDir(uv.Scratch); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if got, err := uv.Resolve(t.Context(), "p", []string{"a"}, nil); err != nil || slices.ContainsFunc(got, func(pin string) bool { return strings.HasPrefix(pin, "preferred==") && pin != "preferred==" }) {
		t.Errorf("without preferences: %q, %v", got, err)
	}
}

func TestResolveFails(t *testing.T) {
	for _, try := range []struct {
		name, script, want string
		unresolvable       bool
	}{
		{"no solution", "echo '  × No solution found when resolving dependencies:' >&2; echo '  Because a was not found in the package registry' >&2; exit 1",
			"the requirements [a, b] cannot be met:\n× No solution found", true},
		{"no such syntax", "echo \"error: Couldn't parse requirement in \\`$PWD/requirements.in\\` at position 0\" >&2; exit 2", "in `requirements.in` at position 0", true},
		{"no network", "echo 'error: Request failed after 3 retries' >&2; exit 2", "resolving requirements with uv: error: Request failed after 3 retries", false},
		{"silent", "exit 3", "resolving requirements with uv: exit status 3", false},
		{"nothing", ": > requirements.txt", "uv named no packages", false},
		{"no file", "rm requirements.txt", "no such file", false},
	} {
		uv := fakeUV(t, try.script)
		_, err := uv.Resolve(t.Context(), "python3", []string{"a", "b"}, nil)
		var unresolvable *UnresolvableError
		if err == nil || !strings.Contains(err.Error(), try.want) || errors.As(err, &unresolvable) != try.unresolvable {
			t.Errorf("%s: %v, want %s", try.name, err, try.want)
		}
		if try.unresolvable && strings.Contains(err.Error(), uv.Scratch) {
			t.Errorf("%s: the message names a temporary path: %v", try.name, err)
		}
		if left, _ := os.ReadDir(uv.Scratch); len(left) > 0 {
			t.Errorf("%s: left behind: %v", try.name, left)
		}
	}
	if _, err := (&UV{Program: "/nowhere/uv", Scratch: t.TempDir()}).Resolve(t.Context(), "p", []string{"a"}, nil); err == nil || !strings.Contains(err.Error(), "/nowhere/uv") {
		t.Errorf("no uv: %v", err)
	}
}

// TestResolveCancelled: processes that uv started end with it.
func TestResolveCancelled(t *testing.T) {
	note := filepath.Join(t.TempDir(), "child")
	uv := fakeUV(t, "sleep 600 & echo $! >"+note+".part; mv "+note+".part "+note+"; wait")
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	child := make(chan int, 1)
	go func() {
		defer cancel(stop)
		defer close(child)
		child <- awaitNumber(t, note)
	}()
	if _, err := uv.Resolve(ctx, "p", []string{"a"}, nil); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	pid := <-child
	if pid == 0 {
		t.Fatal("uv started no child")
	}
	await.Until(t, "the child of uv is gone", func() bool { return !running(pid) })
}

// awaitNumber returns the number that a file holds once there is one.
func awaitNumber(t *testing.T, name string) (n int) {
	t.Helper()
	await.Until(t, name+" holds a number", func() bool {
		content, err := os.ReadFile(name)
		if err == nil {
			n, err = strconv.Atoi(strings.TrimSpace(string(content)))
		}
		return err == nil
	})
	return n
}

// running distinguishes a running process from a process that is gone or a zombie.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// TestLeftovers: old leftovers of killed processes are removed.
func TestLeftovers(t *testing.T) {
	uv := fakeUV(t, shows)
	old, young := filepath.Join(uv.Scratch, "old"), filepath.Join(uv.Scratch, "young")
	for _, dir := range []string{old, young} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * leftoverAge)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	if _, err := uv.Resolve(t.Context(), "p", []string{"a"}, nil); err != nil {
		t.Fatal(err)
	}
	left, _ := os.ReadDir(uv.Scratch)
	if len(left) != 1 || left[0].Name() != "young" {
		t.Errorf("left: %v", left)
	}
}
