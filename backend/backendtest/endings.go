package backendtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// TestEndings runs the part of the suite that is about what commands leave
// behind. Tests of the names in without are left out: "Cancel" takes a backend on which output
// arrives while a command runs, and a session that goes on after a command was cancelled.
func TestEndings(t *testing.T, open func(t *testing.T) (backend.Backend, cache.Store), without ...string) {
	testProcesses(t, open, without...)
	abreast(t, "LockedFiles", open, testLockedFiles)
	abreast(t, "DamagedWorkspace", open, testDamagedWorkspace)
}

// abreast runs a test beside others: these wait more than they work.
func abreast(t *testing.T, name string, open Opener, test func(t *testing.T, open Opener)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		test(t, open)
	})
}

// testProcesses tests that processes end, whichever command started them.
func testProcesses(t *testing.T, open Opener, without ...string) {
	abreast(t, "Leftovers", open, testLeftovers)
	abreast(t, "Timeout", open, testTimeout)
	abreast(t, "Grace", open, testGrace)
	if !slices.Contains(without, "Cancel") {
		abreast(t, "Cancel", open, testCancel)
	}
	abreast(t, "Neighbours", open, testNeighbours)
}

// wait returns the part of a script that waits for the file "pids" to have n lines, so that nothing is
// tested before it exists.
func wait(n int) string {
	return fmt.Sprintf("until [ \"$(cat pids 2>/dev/null | wc -l)\" -ge %d ]; do sleep 0.01; done", n)
}

// ways are the ways to get away from a parent. Each script appends the
// numbers of the processes that it leaves to the file "pids", one per line.
var ways = []struct {
	script string
	n      int
}{
	{`sleep 1000 & echo $! >> pids`, 1},                                                  // background
	{`sh -c 'trap "" TERM HUP INT; echo $$ >> pids; while :; do sleep 1000; done' &`, 1}, // ignores signals
	{`(sh -c 'echo $$ >> pids; exec sleep 1000' & ) &`, 1},                               // double fork
	{`setsid sh -c 'echo $$ >> pids; exec sleep 1000' &`, 1},                             // own session
	{`(setsid sh -c 'trap "" TERM HUP; cd /; exec </dev/null >/dev/null 2>&1; (sh -c "echo \$\$ >> $OLDPWD/pids; exec sleep 1000" &)' &)`, 1}, // daemon
	{`env -i /bin/sh -c 'PATH=` + Path + `; (setsid sh -c "echo \$\$ >> pids; exec sleep 1000" >/dev/null 2>&1 &)'`, 1},                       // cleared environment
	{`for i in 1 2 3; do setsid sh -c 'echo $$ >> pids; setsid sh -c "echo \$\$ >> pids; exec sleep 1000" & exec sleep 1000' & done`, 6},      // tree
	{`sh -c 'echo $$ >> pids; kill -STOP $$' &`, 1}, // stopped
}

// aliveScript prints which of pids live, zombies aside. Where each command has separate process numbers, one can be
// that of a process which leads to this script, or of the script, which the environment tells. It is the command's
// own, for what a shell exports is not yet in that of a child that has not become another program.
const aliveScript = `ours=' ' up=$$
while [ "${up:-0}" -gt 0 ]; do
	ours="$ours$up "
	up=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$up/status)
done
for p in $(cat pids); do
	case $ours in *" $p "*) continue;; esac
	[ "$(sed -n 's/^Tgid:[[:space:]]*//p' /proc/$p/status 2>/dev/null)" = "$p" ] || continue # a thread's
	cat /proc/$p/environ 2>/dev/null | tr '\0' '\n' | grep -q '^ASKS_WHO_LIVES=' && continue
	# Read once: a zombie can go between two looks.
	case $(sed -n 's/^State:[[:space:]]*//p' /proc/$p/status 2>/dev/null) in ''|[ZX]*) continue;; esac
	echo "$p $(tr '\0' ' ' 2>/dev/null < /proc/$p/cmdline)"
done; true`

// checkEnded fails if a process named in the file "pids" of s lives.
func checkEnded(t *testing.T, s backend.Session, n int) {
	t.Helper()
	pids, err := collect(t, s, "pids")
	if err != nil || strings.Count(pids, "\n") != n {
		t.Errorf("the script left %q, %v; want %d processes", pids, err, n)
	}
	cmd := shell(aliveScript)
	cmd.Env = append(cmd.Env, "ASKS_WHO_LIVES=1")
	if exit, left := exec(t, s, cmd); left != "" || exit.Code != 0 {
		t.Errorf("still alive:\n%s%+v", left, exit)
	}
}

// everyWay returns a script that leaves processes in all ways and waits for them, and their number.
func everyWay() (script string, n int) {
	for _, way := range ways {
		script, n = script+way.script+"\n", n+way.n
	}
	return script + wait(n) + "\n", n
}

func testLeftovers(t *testing.T, open Opener) {
	b, _ := open(t)
	s := session(t, b)
	script, n := everyWay()
	start := time.Now()
	exit, out := exec(t, s, shell(script+"echo over; exit 3"))
	elapsed(start, t)
	if exit.Code != 3 || exit.Signal != "" || out != "over\n" {
		t.Errorf("got %+v, %q", exit, out)
	}
	checkEnded(t, s, n)
}

func testTimeout(t *testing.T, open Opener) {
	script, n := everyWay()
	s, exit, out := overrun(t, open, shell("trap '' TERM\n"+script+"echo ready; while :; do sleep 1000; done"), "ready\n")
	if !exit.TimedOut || exit.Seconds < 1 || out != "ready\n" {
		t.Errorf("got %+v, %q", exit, out)
	}
	if exit.Signal != "killed" || exit.Code != -1 {
		t.Errorf("a program that ignores SIGTERM ended with %+v", exit)
	}
	checkEnded(t, s, n)
	b, _ := open(t)
	s = session(t, b)
	cmd := shell("exit 4")
	cmd.Timeout = prompt
	if exit, _ = exec(t, s, cmd); exit.TimedOut || exit.Code != 4 {
		t.Errorf("in time: %+v", exit)
	}
}

// overrun runs a command into a limit that is long enough for it to print so much before, each time in a
// separate session.
func overrun(t *testing.T, open Opener, cmd backend.Command, says string) (s backend.Session, exit backend.Exit, out string) {
	t.Helper()
	for _, cmd.Timeout = range limits {
		b, _ := open(t)
		s = session(t, b)
		if exit, out = exec(t, s, cmd); strings.Contains(out, says) {
			return s, exit, out
		}
		t.Logf("nothing was ready within %v", cmd.Timeout)
	}
	return s, exit, out
}

// A test runner that gets SIGTERM can write its report. It has the time that the
// caller gave the backend for it, which can be too short once. Between the two
// lines the shell can report that its child was terminated.
func testGrace(t *testing.T, open Opener) {
	cmd := shell(`trap 'echo report; exit 9' TERM; echo ready; while :; do sleep 0.01; done`)
	_, exit, out := overrun(t, open, cmd, "report\n")
	if !exit.TimedOut || exit.Code != 9 || !strings.HasPrefix(out, "ready\n") || !strings.HasSuffix(out, "report\n") {
		t.Errorf("got %+v, %q", exit, out)
	}
}

func testCancel(t *testing.T, open Opener) {
	b, _ := open(t)
	s := session(t, b)
	ctx, cancel := context.WithCancelCause(t.Context())
	way := ways[len(ways)-2]
	cmd := shell("trap '' TERM\n" + way.script + "\n" + wait(way.n) + "\necho ready; while :; do sleep 1000; done")
	ready, w := io.Pipe()
	cmd.Output = w
	go func() {
		line := make([]byte, 1)
		_, _ = ready.Read(line)
		cancel(errStop)
		_, _ = io.Copy(io.Discard, ready)
	}()
	start := time.Now()
	exit, err := s.Exec(ctx, cmd)
	elapsed(start, t)
	w.Close()
	if !errors.Is(err, errStop) {
		t.Errorf("got %+v, %v; want %v", exit, err, errStop)
	}
	checkEnded(t, s, way.n)
	if err := s.Close(ctx); err != nil {
		t.Errorf("closing after a cancel: %v", err)
	}
}

// The end of one session's command leaves those of others alone.
func testNeighbours(t *testing.T, open Opener) {
	b, _ := open(t)
	long, short := session(t, b), session(t, b)
	type result struct {
		exit backend.Exit
		err  error
		out  bytes.Buffer
	}
	done := make(chan *result)
	go func() {
		r := &result{}
		cmd := shell(ways[4].script + "\n" + wait(1) + "\nuntil [ -e go ]; do sleep 0.01; done; kill -0 $(cat pids) && echo fine")
		cmd.Output = &r.out
		cmd.Timeout = prompt
		// The neighbour below ends many times while this runs.
		cmd.Argv[2] = "(sleep 1; touch go) &\n" + cmd.Argv[2]
		r.exit, r.err = long.Exec(context.WithoutCancel(t.Context()), cmd)
		done <- r
	}()
	for range 5 {
		run(t, short, "rm -f pids\n"+ways[4].script+"\n"+wait(1))
	}
	if r := <-done; r.err != nil || r.exit.Code != 0 || r.out.String() != "fine\n" {
		t.Errorf("got %+v, %v, %q", r.exit, r.err, r.out.String())
	}
}

// What commands leave can always be removed: without permissions, and deeper
// than a path can be long.
func testLockedFiles(t *testing.T, open Opener) {
	b, _ := open(t)
	s := session(t, b)
	// Together they are deeper than any path that the kernel takes.
	run(t, s, `top=$PWD; deep=; i=0; while [ $i -lt 600 ]; do deep=$deep/deep; i=$((i+1)); done
	mkdir -p "d1$deep" "d2$deep" && cd "d2$deep" && mv "$top/d1" .`)
	run(t, s, `mkdir -p a/b/c "$HOME/d" && touch a/b/c/f "$HOME/d/f" && chmod 000 a/b/c a/b "$HOME/d" a/b/c/f a .; chmod 000 "$HOME"; true`)
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// A command that removes or replaces its own workspace has lost its files; it
// must not reach anything else.
func testDamagedWorkspace(t *testing.T, open Opener) {
	b, store := open(t)
	s := session(t, b, backend.Input{Tree: putTree(t, store, node{Path: "f", Content: "x"})})
	_, _ = exec(t, s, shell(`cd / && rm -rf "$OLDPWD" && ln -s /etc "$OLDPWD"; true`))
	if got, err := collect(t, s, "passwd"); err == nil {
		t.Errorf("collected %q from outside", got)
	}
	if exit, err := s.Exec(t.Context(), shell("true")); err == nil {
		t.Logf("a command runs in a damaged workspace: %+v", exit)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("closing: %v", err)
	}
}
