//go:build unix

package gojudge_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/gojudge"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
)

// shellProgram returns a script with limits that it does not reach.
func shellProgram(script string) backend.Program {
	return backend.Program{Argv: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin"},
		Limits: backend.Limits{CPU: 30 * time.Second, Clock: time.Minute, Memory: 256 << 20, Processes: 32, Stdout: 1 << 20, Stderr: 1 << 20, Kept: 1 << 20}}
}

// runProgram runs a program that must succeed and returns its output.
func runProgram(t *testing.T, s backend.Sandbox, store cache.Store, p backend.Program) string {
	t.Helper()
	ends, err := s.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cache.ReadBlob(t.Context(), store, ends[0].Stdout, -1)
	if err != nil || ends[0].Status != backend.Exited || ends[0].Code != 0 {
		t.Fatalf("got %+v, %v", ends[0], err)
	}
	return string(out)
}

// server returns the process of the go-judge whose files are below scratch.
func server(t *testing.T, scratch string) *os.Process {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range lines {
		line, _ := os.ReadFile(name)
		if strings.Contains(string(line), "\x00-cgroup-prefix\x00") && strings.Contains(string(line), scratch) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			p, err := os.FindProcess(pid)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	t.Fatalf("no go-judge of %s", scratch)
	return nil
}

// nothingLeft fails when something of the servers below scratch exists.
func nothingLeft(t *testing.T, scratch string, ids ...string) {
	t.Helper()
	if left, _ := os.ReadDir(scratch); len(left) > 0 {
		t.Errorf("left below %s: %v", scratch, left)
	}
	for _, id := range ids {
		if left, _ := filepath.Glob("/sys/fs/cgroup/*/" + id); len(left) > 0 {
			t.Errorf("left control groups %v", left)
		}
		if out, err := exec.Command("pgrep", "-f", id).Output(); err == nil {
			t.Errorf("left processes %s", out)
		}
	}
}

// ids of the servers below scratch.
func ids(t *testing.T, scratch string) []string {
	t.Helper()
	entries, err := os.ReadDir(scratch)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A server is started on demand, and leaves nothing behind.
func TestOwnServer(t *testing.T) {
	scratch, store := t.TempDir(), newStore(t)
	registry, err := backend.OpenRegistry(filepath.Join(t.TempDir(), "sessions"), "run")
	if err != nil {
		t.Fatal(err)
	}
	server := gojudge.Start(store, gojudge.Process{Binary: binary(t), Scratch: scratch, Registry: registry, Parallelism: 3})
	box := gojudge.New(server, gojudge.Options{})
	nothingLeft(t, scratch)
	if got := runProgram(t, box, store, shellProgram("echo hello")); got != "hello\n" {
		t.Errorf("got %q", got)
	}
	// A program runs as a user that does not exist, and cannot create namespaces.
	if got := runProgram(t, box, store, shellProgram("cat /proc/self/uid_map; unshare -U true 2>/dev/null || echo refused")); os.Geteuid() == 0 &&
		!regexp.MustCompile(`\n +1000 +15\d{8} +1\nrefused\n$`).MatchString(got) {
		t.Errorf("its users, and namespaces: %q", got)
	}
	made := ids(t, scratch)
	if groups, _ := filepath.Glob("/sys/fs/cgroup/*/" + made[0]); len(made) != 1 || len(groups) == 0 && os.Geteuid() == 0 {
		t.Errorf("servers %v, control groups %v", made, groups)
	}
	// Three programs compete for processors like three outside of groups.
	for file, want := range map[string]string{"cpu.shares": "3072\n", "cpu.weight": "300\n"} {
		weights, _ := filepath.Glob("/sys/fs/cgroup/*/" + made[0] + "/" + file)
		for _, name := range weights {
			if got, err := os.ReadFile(name); err != nil || string(got) != want {
				t.Errorf("%s is %q, want %q (%v)", name, got, want, err)
			}
		}
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, scratch, made...)
	if _, err := box.Run(t.Context(), shellProgram("true")); err == nil {
		t.Error("a server that was ended runs programs")
	}
	if err := registry.Close(); err != nil {
		t.Error(err)
	}
	if err := server.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

// runs reports whether there is a process with these arguments.
func runs(argv ...string) bool {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	want := strings.Join(argv, "\x00") + "\x00"
	return slices.ContainsFunc(lines, func(name string) bool {
		line, err := os.ReadFile(name)
		return err == nil && string(line) == want
	})
}

// The owner of the directory controls the server's mounts and answers.
func TestScratchOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make a directory of another user")
	}
	scratch := filepath.Join(t.TempDir(), "scratch")
	if err := errors.Join(os.Mkdir(scratch, 0o777), os.Chown(scratch, 12345, 12345)); err != nil {
		t.Fatal(err)
	}
	s := gojudge.Start(newStore(t), gojudge.Process{Binary: "/bin/true", Scratch: scratch})
	defer s.Close()
	_, err := gojudge.New(s, gojudge.Options{}).Run(t.Context(), shellProgram("true"))
	if err == nil || !strings.Contains(err.Error(), scratch+" belongs to another user") {
		t.Errorf("got %v", err)
	}
	if entries, err := os.ReadDir(scratch); err != nil || len(entries) > 0 {
		t.Errorf("it contains %v, %v", entries, err)
	}
}

// A server that is killed breaks what runs, and the next request starts another.
func TestServerKilled(t *testing.T) {
	scratch, store := t.TempDir(), newStore(t)
	s := gojudge.Start(store, gojudge.Process{Binary: binary(t), Scratch: scratch})
	defer s.Close()
	box := gojudge.New(s, gojudge.Options{})
	blob, err := cache.PutBytes(t.Context(), store, []byte("content\xff\n"))
	if err != nil {
		t.Fatal(err)
	}
	cat := shellProgram("cat f; cat")
	cat.Stdin, cat.Files = blob, []backend.File{{Path: "f", Digest: blob}}
	if got := runProgram(t, box, store, cat); got != "content\xff\ncontent\xff\n" {
		t.Fatalf("got %q", got)
	}
	first := ids(t, scratch)
	process := server(t, scratch)
	seconds := strconv.Itoa(100_000 + os.Getpid()) // no other process sleeps so long
	var killed sync.WaitGroup
	killed.Go(func() {
		defer process.Kill()
		await.Until(t, "the program runs", func() bool { return runs("sleep", seconds) || t.Context().Err() != nil })
	})
	defer killed.Wait()
	waits := shellProgram("sleep " + seconds)
	waits.Limits.Clock = time.Hour
	ends, err := box.Run(t.Context(), waits)
	if err == nil || !strings.Contains(err.Error(), "it ended during a request (signal: killed)") {
		t.Errorf("got %+v, %v", ends, err)
	}
	if got := runProgram(t, box, store, cat); got != "content\xff\ncontent\xff\n" {
		t.Errorf("afterwards: %q", got)
	}
	if now := ids(t, scratch); len(now) != 1 || now[0] == first[0] {
		t.Errorf("servers were %v, are %v", first, now)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, scratch, first...)
}

// The reaper removes everything of a killed run.
func TestReap(t *testing.T) {
	scratch, store, sessions := t.TempDir(), newStore(t), filepath.Join(t.TempDir(), "sessions")
	registry, err := backend.OpenRegistry(sessions, "dead")
	if err != nil {
		t.Fatal(err)
	}
	s := gojudge.Start(store, gojudge.Process{Binary: binary(t), Scratch: scratch, Registry: registry})
	runProgram(t, gojudge.New(s, gojudge.Options{}), store, shellProgram("true"))
	made := ids(t, scratch)
	// The run was killed: its lock is free, and its server has received no signal.
	if err := registry.Close(); err != nil {
		t.Fatal(err)
	}
	reaped, err := backend.Reap(t.Context(), sessions, map[string]func(context.Context, backend.Entry) error{gojudge.Kind: gojudge.Reap})
	if err != nil || len(reaped) != 1 || reaped[0].Err != nil {
		t.Fatalf("got %+v, %v", reaped, err)
	}
	nothingLeft(t, scratch, made...)
	s.Close()
	for _, damaged := range []backend.Entry{{ID: "x", Kind: gojudge.Kind, Workspace: "/tmp/x"}, {ID: "fevalgraph-x", Kind: gojudge.Kind, Workspace: "/"}, {ID: "fevalgraph-x", Kind: gojudge.Kind, Workspace: "fevalgraph-x"}} {
		if err := gojudge.Reap(t.Context(), damaged); err == nil {
			t.Errorf("reaped %+v", damaged)
		}
	}
	if err := gojudge.Reap(t.Context(), backend.Entry{ID: "fevalgraph-gone", Kind: gojudge.Kind, Workspace: filepath.Join(scratch, "fevalgraph-gone")}); err != nil {
		t.Errorf("unknown run: %v", err)
	}
}

// A server that runs already is used with its token, and is left clean.
func TestEndpoint(t *testing.T) {
	files, store := t.TempDir(), newStore(t)
	address := listen(t, files, "s3cr3t")
	s := gojudge.Connect(store, "http://"+address, "s3cr3t")
	box := gojudge.New(s, gojudge.Options{Versions: versions})
	blob, err := cache.PutBytes(t.Context(), store, []byte(strings.Repeat("binary\xff\n", 20_000)))
	if err != nil {
		t.Fatal(err)
	}
	cat := shellProgram("cat f")
	cat.Files = []backend.File{{Path: "f", Digest: blob}}
	for range 2 {
		runProgram(t, box, store, cat)
	}
	if left := ids(t, files); len(left) != 1 {
		t.Errorf("on the server: %v; want the one blob", left)
	}
	// It was restarted, and knows no file any more.
	for _, name := range ids(t, files) {
		os.Remove(filepath.Join(files, name))
	}
	if got := runProgram(t, box, store, cat); len(got) != 160_000 {
		t.Errorf("after a loss: %d bytes", len(got))
	}
	if identity, err := box.Identity(t.Context()); err != nil || len(identity) != 5 || identity[1].Label != "go-judge" || !strings.Contains(identity[4].Value, "exit 127") {
		t.Errorf("identity %q, %v", identity, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left := ids(t, files); len(left) != 0 {
		t.Errorf("left on the server: %v", left)
	}
	other := gojudge.Connect(store, "http://"+address, "wrong")
	defer other.Close()
	if _, err := gojudge.New(other, gojudge.Options{}).Run(t.Context(), shellProgram("true")); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("with a wrong token: %v", err)
	}
}

// listen starts a go-judge by hand and returns its address.
func listen(t *testing.T, files, token string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	id := fmt.Sprintf("fevalgraph-test-%d", os.Getpid())
	cmd := exec.Command(binary(t), "-http-addr", address, "-cgroup-prefix", id, "-no-fallback", "-dir", files, "-auth-token", token, "-silent")
	cmd.Dir = t.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		if err := gojudge.Reap(context.Background(), backend.Entry{ID: id, Kind: gojudge.Kind, Workspace: filepath.Join(cmd.Dir, id)}); err != nil {
			t.Error(err)
		}
	})
	await.Until(t, "go-judge listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	return address
}

// Settings that cannot work give an error with a hint.
func TestTroubles(t *testing.T) {
	store := cache.NewMemory()
	unusable := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(unusable, []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	ends := filepath.Join(t.TempDir(), "ends")
	if err := os.WriteFile(ends, []byte("#!/bin/sh\necho '{\"level\":\"fatal\",\"msg\":\"create environment builder failed \",\"error\":\"failed to create cgroup: permission denied\"}' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"version":"1"}`) }))
	defer web.Close()
	page := httptest.NewServer(http.NotFoundHandler())
	defer page.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, test := range []struct {
		server *gojudge.Server
		want   string
		tool   bool
	}{
		{gojudge.Start(store, gojudge.Process{Binary: "go-judge", Path: t.TempDir()}), "not found in PATH (hint: build it", true},
		{gojudge.Start(store, gojudge.Process{Binary: "/nowhere/go-judge"}), "not found (hint: build it", true},
		{gojudge.Start(store, gojudge.Process{Binary: "./go-judge", Path: "/bin"}), "neither a name nor an absolute path", true},
		{gojudge.Start(store, gojudge.Process{Binary: t.TempDir()}), "not an executable file", true},
		{gojudge.Start(store, gojudge.Process{Binary: unusable, Scratch: t.TempDir()}), "exec format error", true},
		{gojudge.Start(store, gojudge.Process{Binary: ends, Scratch: t.TempDir()}), "it cannot create control groups: create environment builder failed: failed to create cgroup: permission denied (hint: run as root", true},
		{gojudge.Connect(store, web.URL, ""), "is not go-judge: its /version has no buildVersion", false},
		{gojudge.Connect(store, page.URL, ""), "is not go-judge: it has no /version", false},
		{gojudge.Connect(store, "http://"+closed.Addr().String(), ""), "connection refused", false},
	} {
		_, err := gojudge.New(test.server, gojudge.Options{}).Run(t.Context(), shellProgram("true"))
		var tool *backend.ToolError
		if err == nil || !strings.Contains(err.Error(), test.want) || errors.As(err, &tool) != test.tool {
			t.Errorf("got %v; want %q", err, test.want)
		}
		if err := test.server.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	}
}
