package backendtest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// TestPrograms runs the part of the suite about the view and the end of programs.
func TestPrograms(t *testing.T, open func(t *testing.T) (backend.Backend, cache.Store), ambient ...string) {
	t.Run("Modes", func(t *testing.T) { testModes(t, open) })
	t.Run("FilesOut", func(t *testing.T) { testFilesOut(t, open) })
	t.Run("Environment", func(t *testing.T) { testEnvironment(t, open, ambient) })
	t.Run("HomeAndTemp", func(t *testing.T) { testHomeAndTemp(t, open) })
	t.Run("Directory", func(t *testing.T) { testDirectory(t, open) })
	t.Run("Stdin", func(t *testing.T) { testStdin(t, open) })
	t.Run("Exits", func(t *testing.T) { testExits(t, open) })
	t.Run("Output", func(t *testing.T) { testOutput(t, open) })
	t.Run("Errors", func(t *testing.T) { testErrors(t, open) })
	t.Run("Offline", func(t *testing.T) { testOffline(t, open) })
	t.Run("BigOutput", func(t *testing.T) { testBigOutput(t, open) })
	t.Run("OutputFails", func(t *testing.T) { testOutputFails(t, open) })
	t.Run("NotStarted", func(t *testing.T) { testNotStarted(t, open) })
}

func testModes(t *testing.T, open Opener) {
	b, store := open(t)
	s := session(t, b,
		backend.Input{Path: "bin", Tree: putTree(t, store,
			node{Path: "run me", Content: "#!/bin/sh\necho ran \"$@\"\n", Executable: true},
			node{Path: "plain", Content: "x"},
			node{Path: "link", Link: "run me"},
			node{Path: "empty", Dir: true})},
		backend.Input{Path: "note", Content: []byte("x")},
	)
	got := run(t, s, `stat -c '%a %F %N' bin 'bin/run me' bin/plain bin/link bin/empty note | tr -d "'\"" && bin/link 'a b'`)
	want := `755 directory bin
755 regular file bin/run me
644 regular file bin/plain
777 symbolic link bin/link -> run me
755 directory bin/empty
644 regular file note
ran a b`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func testFilesOut(t *testing.T, open Opener) {
	b, _ := open(t)
	s := session(t, b)
	run(t, s, `mkdir -p "größe/日本 語" locked && printf result > "größe/日本 語/out" && mkfifo pipe && ln -s "größe" link &&
		printf secret > locked/f && chmod 000 locked/f locked`)
	if got, err := collect(t, s, "größe/日本 語/out"); err != nil || got != "result" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := collect(t, s, "locked/f"); err != nil || got != "secret" {
		t.Errorf("a file that was made unreadable: got %q, %v", got, err)
	}
	for _, path := range []string{"pipe", "link", "link/日本 語/out"} {
		if _, err := collect(t, s, path); !errors.Is(err, backend.ErrNotRegular) {
			t.Errorf("%q: %v", path, err)
		}
	}
	// One command's files are the next one's.
	if got := run(t, s, `cat "größe/日本 語/out"`); got != "result" {
		t.Errorf("the next command sees %q", got)
	}
}

func testEnvironment(t *testing.T, open Opener, ambient []string) {
	if os.Getenv(leakedVariable) == "" {
		t.Fatal("TestMain does not call Main")
	}
	b, _ := open(t)
	s := session(t, b)
	cmd := backend.Command{
		Argv: []string{"env", "-0"},
		Env:  []string{"PATH=" + Path, "EMPTY=", "SPACES= a  b ", "LINES=1\n2", "UNICODE=größe", "EQ=a=b"},
	}
	exit, out := exec(t, s, cmd)
	if exit.Code != 0 {
		t.Fatalf("env ended with %+v: %s", exit, out)
	}
	left := slices.Clone(cmd.Env)
	for variable := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if i := slices.Index(left, variable); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		name, value, _ := strings.Cut(variable, "=")
		added := name == "HOME" || name == "TMPDIR" || strings.HasPrefix(name, "FEVALGRAPH_") || slices.Contains(ambient, name)
		if !added || value == "" {
			t.Errorf("the command sees %q", variable)
		}
	}
	if len(left) > 0 {
		t.Errorf("the command does not see %q", left)
	}
}

func testHomeAndTemp(t *testing.T, open Opener) {
	b, _ := open(t)
	first, second := session(t, b), session(t, b)
	const show = `echo x > "$HOME/f" && echo x > "$TMPDIR/f" && echo "$HOME:$TMPDIR:$PWD"`
	a, c := run(t, first, show), run(t, second, show)
	if got := run(t, first, `ls "$HOME" "$TMPDIR" | grep -c '^f$'`); got != "2" {
		t.Errorf("HOME and TMPDIR do not last: %s", got)
	}
	if got := run(t, first, "ls -A"); got != "" {
		t.Errorf("they are in the workspace: %s", got)
	}
	if runtime.GOOS == "linux" && a == c && first.Dir() != second.Dir() {
		t.Errorf("two sessions share %s", a)
	}
	cmd := shell(`echo "$HOME:$TMPDIR"`)
	cmd.Env = append(cmd.Env, "HOME=/h", "TMPDIR=")
	if _, out := exec(t, first, cmd); out != "/h:\n" {
		t.Errorf("Env does not win: %q", out)
	}
}

func testDirectory(t *testing.T, open Opener) {
	b, store := open(t)
	s := session(t, b, backend.Input{Tree: putTree(t, store,
		node{Path: "a/b/here", Content: "#!/bin/sh\npwd\n", Executable: true},
		node{Path: "out", Link: "/"}, node{Path: "f", Content: "x"})})
	for _, test := range []struct {
		dir, argv0, want string
	}{
		{"", "pwd", ""}, {".", "pwd", ""}, {"a/b", "pwd", "/a/b"}, {"a/b", "./here", "/a/b"}, {"", "a/b/here", ""},
	} {
		exit, out := exec(t, s, backend.Command{Argv: []string{test.argv0}, Env: []string{"PATH=" + Path}, Dir: test.dir})
		if want := s.Dir() + test.want + "\n"; exit.Code != 0 || out != want {
			t.Errorf("%s in %q: got %q, %+v; want %q", test.argv0, test.dir, out, exit, want)
		}
	}
	for _, dir := range []string{"..", "/", "absent", "f", "out"} {
		cmd := shell("pwd")
		cmd.Dir = dir
		if exit, err := s.Exec(t.Context(), cmd); err == nil {
			t.Errorf("in %q: %+v, want an error", dir, exit)
		}
	}
}

func testStdin(t *testing.T, open Opener) {
	b, _ := open(t)
	cmd := shell("cat; read x || echo nothing")
	cmd.Timeout = prompt
	if exit, out := exec(t, session(t, b), cmd); out != "nothing\n" || exit.TimedOut {
		t.Errorf("got %q, %+v", out, exit)
	}
}

func testExits(t *testing.T, open Opener) {
	b, _ := open(t)
	s := session(t, b)
	for _, test := range []struct {
		script string
		want   backend.Exit
	}{
		{"exit 0", backend.Exit{}},
		{"exit 1", backend.Exit{Code: 1}},
		{"exit 5", backend.Exit{Code: 5}},
		{"exit 126", backend.Exit{Code: 126}},
		{"exit 127", backend.Exit{Code: 127}},
		{"exit 255", backend.Exit{Code: 255}},
		{"exit 137", backend.Exit{Code: 137}}, // not to be taken for a signal
		{"no-such-program-at-all", backend.Exit{Code: 127}},
		{"kill -KILL $$", backend.Exit{Code: -1, Signal: "killed"}},
		{"kill -TERM $$", backend.Exit{Code: -1, Signal: "terminated"}},
		{"kill -SEGV $$", backend.Exit{Code: -1, Signal: "segmentation fault"}},
		{"kill -ABRT $$", backend.Exit{Code: -1, Signal: "aborted"}},
	} {
		exit, _ := exec(t, s, shell(test.script))
		if exit.Seconds < 0 || exit.Seconds > prompt.Seconds() {
			t.Errorf("%s took %v seconds", test.script, exit.Seconds)
		}
		exit.Seconds = 0
		if exit != test.want {
			t.Errorf("%s: got %+v, want %+v", test.script, exit, test.want)
		}
	}
	// Who hears late on a busy machine that the program began counts too little.
	if exit, _ := exec(t, s, shell("sleep 1")); exit.Seconds < 0.5 {
		t.Errorf("a second of sleep took %v", exit.Seconds)
	}
}

func testOutput(t *testing.T, open Opener) {
	b, _ := open(t)
	s := session(t, b)
	_, out := exec(t, s, shell(`echo 1; echo 2 >&2; echo 3; printf '\000\377'`))
	if want := "1\n2\n3\n\x00\xff"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
	if exit, err := s.Exec(t.Context(), shell("echo discarded; exit 3")); err != nil || exit.Code != 3 {
		t.Errorf("without a writer: %+v, %v", exit, err)
	}
}

// testErrors tests standard error separately from standard output, also when a limit ends the program that
// prints.
func testErrors(t *testing.T, open Opener) {
	b, _ := open(t)
	s := session(t, b)
	apart := func(script string, limit time.Duration) (backend.Exit, string, string) {
		t.Helper()
		var errs bytes.Buffer
		cmd := shell(script)
		cmd.Errors, cmd.Timeout = &errs, limit
		exit, out := exec(t, s, cmd)
		return exit, out, errs.String()
	}
	exit, out, errs := apart(`echo 1; echo a >&2; echo 2; printf 'b\000\377\n[INFO] c' >&2; exit 3`, 0)
	if out != "1\n2\n" || errs != "a\nb\x00\xff\n[INFO] c" || exit.Code != 3 {
		t.Errorf("got %q, %q, %+v", out, errs, exit)
	}
	if _, out, errs := apart("echo 1", 0); out != "1\n" || errs != "" {
		t.Errorf("nothing on stderr: got %q, %q", out, errs)
	}
	start := time.Now()
	exit, out, errs = apart("echo 1; echo a >&2; sleep 1000 & sleep 1000", time.Second)
	if took := time.Since(start); took > prompt {
		t.Errorf("a limit of a second ended after %v", took)
	}
	if out != "1\n" || errs != "a\n" || !exit.TimedOut {
		t.Errorf("at a limit: got %q, %q, %+v", out, errs, exit)
	}
	var big, none counter
	cmd := shell("yes | head -c 3000000 >&2")
	cmd.Output, cmd.Errors = &none, &big
	if _, err := s.Exec(t.Context(), cmd); err != nil || big.n != 3000000 || none.n != 0 {
		t.Errorf("got %d bytes, %d on stdout, %v", big, none, err)
	}
	full := errors.New("disk full")
	cmd = shell("echo full >&2; exit 3")
	cmd.Errors = failing{full}
	if _, err := s.Exec(t.Context(), cmd); !errors.Is(err, full) {
		t.Errorf("a writer that fails: %v", err)
	}
	if out := run(t, s, "echo 1; echo 2 >&2"); out != "1\n2" {
		t.Errorf("together again: %q", out)
	}
}

// testOffline tests commands that reach nothing but a private loopback. A backend that cannot confine them
// returns an error.
func testOffline(t *testing.T, open Opener) {
	b, _ := open(t)
	s := session(t, b)
	cmd := shell("cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '")
	cmd.Offline = true
	var out bytes.Buffer
	cmd.Output = &out
	_, err := s.Exec(t.Context(), cmd)
	if err != nil && b.Network() == backend.SharedNetwork {
		t.Logf("not to be had: %v", err)
		return
	}
	if err != nil || !slices.Contains(strings.Fields(out.String()), "lo") || strings.Contains(out.String(), "eth") {
		t.Errorf("got the interfaces %q, %v", out.String(), err)
	}
}

// counter counts what is written and keeps none of it. When all of it has arrived, it
// looks at the memory in use.
type counter struct {
	want, n int
	live    uint64 // bytes
}

func (c *counter) Write(p []byte) (int, error) {
	if c.n += len(p); c.n == c.want {
		c.live = liveBytes()
	}
	return len(p), nil
}

// liveBytes returns the memory in use. The total of allocations would include those of other tests.
func liveBytes() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func testBigOutput(t *testing.T, open Opener) {
	const size = 100 << 20
	b, _ := open(t)
	s := session(t, b)
	before, out := liveBytes(), &counter{want: size}
	cmd := shell("head -c 104857600 /dev/zero")
	cmd.Output = out
	exit, err := s.Exec(t.Context(), cmd)
	if err != nil || exit.Code != 0 || out.n != size {
		t.Errorf("got %d bytes, %+v, %v", out.n, exit, err)
	}
	if out.live > before+size/4*3 { // tests beside this one take some, and an output that is kept takes all
		t.Errorf("%d bytes in use for %d bytes of output", out.live-before, size)
	}
}

// failing is a full disk.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// A full disk on our side must neither end the program nor be blamed on it.
func testOutputFails(t *testing.T, open Opener) {
	b, _ := open(t)
	s := session(t, b)
	full := errors.New("disk full")
	cmd := shell("head -c 1000000 /dev/zero && echo whole > done")
	cmd.Output = failing{full}
	if _, err := s.Exec(t.Context(), cmd); !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
	if got, err := collect(t, s, "done"); got != "whole\n" {
		t.Errorf("the program did not run to its end: %q, %v", got, err)
	}
}

func testNotStarted(t *testing.T, open Opener) {
	b, store := open(t)
	s := session(t, b, backend.Input{Tree: putTree(t, store,
		node{Path: "plain", Content: "#!/bin/sh\n"}, node{Path: "d", Dir: true},
		node{Path: "only-here", Content: "#!/bin/sh\n", Executable: true})})
	for _, argv0 := range []string{"no-such-program-at-all", "./absent", "/absent/program", "d/absent", "plain/x", "./d", "only-here"} {
		exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{argv0}, Env: []string{"PATH=" + Path}})
		if tool := (*backend.ToolError)(nil); !errors.As(err, &tool) || tool.Tool != argv0 {
			t.Errorf("%s: got %+v, %v; want a *ToolError", argv0, exit, err)
		}
	}
	for _, argv := range [][]string{nil, {}, {""}, {"./plain"}} {
		if exit, err := s.Exec(t.Context(), backend.Command{Argv: argv, Env: []string{"PATH=" + Path}}); err == nil {
			t.Errorf("%q: %+v, want an error", argv, exit)
		}
	}
	// The PATH that counts is the command's, and a relative one never does.
	for _, path := range []string{"PATH=/absent", "PATH=.", "PATH=:" + s.Dir() + "/absent"} {
		if exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"only-here"}, Env: []string{path}}); err == nil {
			t.Errorf("%s: %+v, want an error", path, exit)
		}
	}
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errStop)
	if _, err := s.Exec(cancelled, shell("echo x > ran")); !errors.Is(err, errStop) {
		t.Errorf("on a cancelled context: %v", err)
	}
	if _, err := collect(t, s, "ran"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it ran all the same: %v", err)
	}
	// None of this wears the session out.
	if exit, _ := exec(t, s, shell("exit 7")); exit.Code != 7 {
		t.Errorf("afterwards: %+v", exit)
	}
}

var errStop = errors.New("stop")

func elapsed(start time.Time, t *testing.T) {
	t.Helper()
	if took := time.Since(start); took > prompt {
		t.Errorf("took %s", took)
	}
}
