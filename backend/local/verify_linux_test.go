package local

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

func openSession(t *testing.T, o Options) backend.Session {
	t.Helper()
	o.Path, o.Scratch = os.Getenv("PATH"), t.TempDir()
	b := New(cache.NewMemory(), o)
	s, err := b.Open(t.Context(), backend.Spec{Name: "node"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func shell(t *testing.T, s backend.Session, script string, limit time.Duration) (backend.Exit, string) {
	t.Helper()
	var out bytes.Buffer
	exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"/bin/sh", "-c", script}, Timeout: limit, Output: &out})
	if err != nil {
		t.Fatal(err)
	}
	return exit, out.String()
}

func TestVerifyFindsWhatTheMachineDid(t *testing.T) {
	defer func(before func() uint64) { oomKills.ask = before }(oomKills.ask)
	kills := uint64(3)
	oomKills.ask = func() uint64 { return kills }
	oomKills.when = time.Time{}

	s := openSession(t, Options{})
	shell(t, s, "exit 1", 0)
	if err := s.Verify(t.Context()); err != nil {
		t.Errorf("no error: %v", err)
	}
	kills++
	if err := s.Verify(t.Context()); err == nil || !strings.Contains(err.Error(), "out of memory") {
		t.Errorf("the kernel killed something: %v", err)
	}
	kills--
	for _, dir := range []string{".", "..", "../tmp"} {
		s := openSession(t, Options{})
		if err := os.RemoveAll(filepath.Join(s.Dir(), dir)); err != nil {
			t.Fatal(err)
		}
		if err := s.Verify(t.Context()); err == nil || !strings.Contains(err.Error(), "removed") {
			t.Errorf("%s was removed: %v", dir, err)
		}
	}
}

// Counts are read from the files of a control group, by the line that begins with the name; where the file is missing
// another is read, or nothing counted.
func TestEventsOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "memory.events")
	if err := os.WriteFile(file, []byte("oom 7\noom_kill 5\noom_kill_disable 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := eventsOf("no such controller", "no.such.file", "no.such.file", "oom_kill", file)(); n != 5 {
		t.Errorf("counted %d, want 5", n)
	}
	if n := eventsOf("no such controller", "no.such.file", "no.such.file", "max", "")(); n != 0 {
		t.Errorf("counted %d without a file", n)
	}
}

func TestStoppedUntilItsLimit(t *testing.T) {
	t.Parallel()
	s := openSession(t, Options{Lifecycle: Lifecycle{Grace: time.Millisecond}})
	exit := backend.Exit{TimedOut: true}
	for limit := time.Second; exit.TimedOut && !exit.Stopped && limit < time.Minute; limit *= 4 { // a busy machine needs longer to get there
		exit, _ = shell(t, s, "kill -STOP $$", limit)
	}
	if !exit.TimedOut || !exit.Stopped {
		t.Errorf("a program that was stopped: %+v", exit)
	}
	if exit, _ := shell(t, s, "sleep 60", 100*time.Millisecond); !exit.TimedOut || exit.Stopped {
		t.Errorf("a program that slept: %+v", exit)
	}
}

// Time that the machine, or this process, did not run is not the command's.
func TestLimitDoesNotCountPauses(t *testing.T) {
	began := time.Now()
	l := &processLimit{remaining: 1500 * time.Millisecond, step: limitStep, last: began, timer: time.NewTimer(time.Hour)}
	now := began.Add(time.Hour) // suspended in the first step
	if l.count(now) || l.remaining != 1500*time.Millisecond {
		t.Errorf("an hour's pause left %v", l.remaining)
	}
	now = now.Add(time.Second + 10*time.Millisecond)
	if l.count(now) || l.remaining != 490*time.Millisecond || l.step != l.remaining {
		t.Errorf("a second left %v, the next step takes %v", l.remaining, l.step)
	}
	now = now.Add(time.Hour) // and in the last
	if l.count(now) {
		t.Error("an hour's pause used up the last step")
	}
	if !l.count(now.Add(490 * time.Millisecond)) {
		t.Error("the limit is never over")
	}
	l.ended = true
	if l.count(now.Add(time.Minute)) {
		t.Error("a program that has ended is ended")
	}
}

// The umask and the limits of fevalgraph's caller either do not reach commands, or enter keys.
func TestInherited(t *testing.T) {
	const script = "umask; ulimit -S -n; ulimit -S -c; ulimit -S -v"
	s := openSession(t, Options{})
	_, plain := shell(t, s, script, 0)
	if !strings.HasPrefix(plain, "0022\n1024\n0\n") {
		t.Errorf("umask, files, core, address space: %q", plain)
	}
	defer func(before func() int) { ownUmask = before }(ownUmask)
	ownUmask = func() int { return 0o077 }
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &before); err != nil {
		t.Fatal(err)
	}
	defer unix.Umask(unix.Umask(0o077))
	defer unix.Setrlimit(unix.RLIMIT_AS, &before)
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: 1 << 40, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	if _, other := shell(t, s, script, 0); other != plain {
		t.Errorf("with another umask and soft limit: %q, want %q", other, plain)
	}
	if got := backend.FindLowLimits().Identity(); before.Max == unix.RLIM_INFINITY && got != nil {
		t.Errorf("without hard limits the identity has %v", got)
	}
}

// A limit of the caller is part of the identity if it is lower than that of commands, and otherwise has no effect:
// callers with equal identities run commands with equal limits.
func TestInheritedHardLimits(t *testing.T) {
	if dir := os.Getenv("FEVALGRAPH_TEST_LIMITED"); dir != "" {
		b := New(cache.NewMemory(), Options{Probes: Probes{Path: os.Getenv("PATH")}, Lifecycle: Lifecycle{Scratch: dir}, Confinement: Confinement{Isolation: "none"}})
		s, err := b.Open(t.Context(), backend.Spec{Name: "node"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(context.Background())
		// The mark of processes is a limit on file locks.
		_, out := shell(t, s, "grep -v -e 'file locks' /proc/self/limits", 0)
		fmt.Printf("%v\n%s", backend.FindLowLimits().Identity(), out)
		os.Exit(0)
	}
	limited := func(ulimit string) (identity, limits string) {
		t.Helper()
		cmd := exec.Command("/bin/bash", "-c", ulimit+`; exec "$0" -test.run '^TestInheritedHardLimits$'`, os.Args[0])
		cmd.Env = append(os.Environ(), "FEVALGRAPH_TEST_LIMITED="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", ulimit, err, out)
		}
		identity, limits, _ = strings.Cut(string(out), "\n")
		return identity, limits
	}
	plainIdentity, plain := limited("true")
	for _, ulimit := range []string{"-Sn 512", "-n 18000", "-Ss 1024", "-c 0", "-Hu 90000", "-u 80000", "-i 90000", "-Sv 9000000", "-Sl 64", "-Sq 4096"} {
		if exec.Command("/bin/bash", "-c", "ulimit "+ulimit).Run() != nil {
			continue // this caller's limits are too low for that
		}
		if identity, limits := limited("ulimit " + ulimit); identity != plainIdentity || limits != plain {
			t.Errorf("ulimit %s reaches commands: the identity has %s, want %s; limits are\n%swant\n%s", ulimit, identity, plainIdentity, limits, plain)
		}
	}
	for ulimit, want := range map[string]string{
		"-n 4000": "{limit on open files 4000}", "-s 100000": "{limit on stack 102400000}", "-u 40000": "{limit on processes 32768}",
		"-l 64": "{limit on locked memory 65536}", "-m 9000000": "{limit on resident memory 9216000000}", "-f 900000": "{limit on file size 921600000}",
		"-d 9000000": "{limit on data segment 9216000000}", "-v 9000000": "{limit on address space 9216000000}", "-t 9000": "{limit on CPU time 9000}",
		"-q 4096": "{limit on message queues 4096}", "-i 1000": "{limit on pending signals 1000}",
	} {
		if exec.Command("/bin/bash", "-c", "ulimit "+ulimit).Run() != nil {
			continue
		}
		identity, limits := limited("ulimit -H " + ulimit + " -S " + ulimit + " || ulimit " + ulimit)
		if !strings.Contains(identity, want) {
			t.Errorf("ulimit %s: the identity has %s, want %s", ulimit, identity, want)
		}
		if limits == plain {
			t.Errorf("ulimit %s changed no limit, and the identity has %s", ulimit, identity)
		}
	}
}
