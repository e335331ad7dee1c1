package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// withCanaries gives a command a controlling terminal, and the machine an abstract socket and a
// key, which attacks look for. The result checks that the terminal was neither written to nor
// typed into, and ends them.
func withCanaries(t *testing.T, cmd *exec.Cmd) (untouched func()) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.SysProcAttr = slave, &syscall.SysProcAttr{Setsid: true, Setctty: true}
	l, err := net.Listen("unix", fmt.Sprintf("@%s-%d", callersSecret, os.Getpid())) // suites share the names of a machine
	if err != nil {
		t.Fatal(err)
	}
	var keys []int
	for _, ring := range []int{unix.KEY_SPEC_SESSION_KEYRING, unix.KEY_SPEC_USER_KEYRING} {
		key, err := unix.AddKey("user", callersSecret, []byte(callersSecret), ring)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return func() {
		t.Helper()
		defer func() {
			for _, key := range keys {
				_, _ = unix.KeyctlInt(unix.KEYCTL_INVALIDATE, key, 0, 0, 0)
			}
			l.Close()
			slave.Close()
			master.Close()
		}()
		for what, fd := range map[string]uintptr{"output": master.Fd(), "input": slave.Fd()} {
			ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			if n, err := unix.Poll(ready, 0); err != nil || n > 0 && ready[0].Revents&unix.POLLIN != 0 {
				text := make([]byte, 200)
				n, _ := unix.Read(int(fd), text)
				t.Errorf("the terminal has %q as its %s (%v)", text[:max(n, 0)], what, err)
			}
		}
	}
}
