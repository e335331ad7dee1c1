package local_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/cache"
)

// terminalAttacks are scripts that print HELD. They run while the caller has a controlling
// terminal, $TERMINAL.
var terminalAttacks = []struct {
	name, script string
	isolated     bool // level None does not hold it
}{
	{"writing to the terminal", `! ([ -c /dev/tty ] && echo attack >/dev/tty) 2>/dev/null && echo HELD`, false},
	{"turning the echo off", `! (stty -echo </dev/tty) 2>/dev/null && echo HELD`, false},
	{"typing into the shell", `! perl -e 'open(T, "+<", "/dev/tty") or exit 1; ioctl(T, 0x5412, my $c = "x") or exit 1' && echo HELD`, false},
	{"staying in the caller's session", `read -r _ _ _ _ _ session _ </proc/self/stat; [ "$session" = $$ ] && echo HELD`, false},
	{"opening the terminal by its name", `! (: <$TERMINAL) 2>/dev/null && ! (: >$TERMINAL) 2>/dev/null && echo HELD`, true},
	{"opening any terminal", `for t in /dev/pts/[0-9]* /dev/tty[0-9]* /dev/console; do [ ! -c $t ] || { ! (: <$t) 2>/dev/null && ! (: >$t) 2>/dev/null; } || exit; done; echo HELD`, true},
}

const attackedVariable = "LOCAL_TEST_ATTACKED_TERMINAL" // name of the terminal of TestWithTerminal

// TestWithTerminal runs the attacks. TestTerminalAttacks calls it in a process that has a
// controlling terminal.
func TestWithTerminal(t *testing.T) {
	terminal := os.Getenv(attackedVariable)
	if terminal == "" {
		t.Skip("run by TestTerminalAttacks")
	}
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err != nil {
		t.Fatal(err) // without one every attack fails
	} else {
		tty.Close()
	}
	for _, level := range isolation.Levels() {
		t.Run(level, func(t *testing.T) {
			need(t, isolation.Level(level))
			b := local.New(cache.NewMemory(), local.Options{Confinement: local.Confinement{Isolation: level}, Lifecycle: local.Lifecycle{Scratch: t.TempDir()}, Probes: local.Probes{Path: backendtest.Path}})
			for _, attack := range terminalAttacks {
				if attack.isolated && level == string(isolation.None) {
					continue
				}
				t.Run(attack.name, func(t *testing.T) {
					s, err := b.Open(t.Context(), backend.Spec{})
					if err != nil {
						t.Fatal(err)
					}
					defer s.Close(t.Context())
					var out bytes.Buffer
					exit, err := s.Exec(t.Context(), backend.Command{
						Argv: []string{"sh", "-c", attack.script}, Env: []string{"PATH=" + backendtest.Path, "TERMINAL=" + terminal}, Output: &out,
					})
					if err != nil || !strings.HasSuffix(out.String(), "HELD\n") {
						t.Errorf("got %+v, %v: %s", exit, err, out.String())
					}
				})
			}
		})
	}
}

// TestTerminalAttacks checks that commands neither reach the caller's terminal nor leave
// anything in its input.
func TestTerminalAttacks(t *testing.T) {
	master, slave := terminal(t)
	defer slave.Close()
	before, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestWithTerminal$", "-test.v")
	cmd.Env = append(os.Environ(), attackedVariable+"="+slave.Name())
	cmd.Stdin = slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	guard := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer guard.Stop()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("--- PASS: TestWithTerminal/none")) {
		t.Errorf("the attacks did not run:\n%s", out)
	}
	after, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if *after != *before {
		t.Errorf("the settings of the terminal changed from %+v to %+v", before, after)
	}
	for what, f := range map[string]*os.File{"output": master, "input": slave} {
		ready := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
		if n, err := unix.Poll(ready, 0); err != nil || n > 0 && ready[0].Revents&unix.POLLIN != 0 {
			text := make([]byte, 100)
			n, _ := f.Read(text)
			t.Errorf("the terminal has %q as its %s (%v)", text[:n], what, err)
		}
	}
}
