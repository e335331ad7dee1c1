package local_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
)

// place describes a location where a program can leave a mark for a program of another session.
type place struct {
	name        string
	leave, find func(mark string) bool
}

// key identifies a mark in System V IPC.
func key(mark string) uintptr {
	sum := uintptr(0)
	for _, b := range []byte(mark) {
		sum = sum*31 + uintptr(b)
	}
	return sum&0x3fffffff | 1
}

// ipc leaves and finds something of System V, made by a call whose flags are at a position.
func ipc(name string, number uintptr, flags int, arguments ...uintptr) place {
	call := func(mark string, flag uintptr) bool {
		a := append([]uintptr{key(mark)}, arguments...)
		a[flags] = flag
		_, _, errno := unix.Syscall(number, a[0], a[1], append(a, 0)[2])
		return errno == 0
	}
	return place{name, func(mark string) bool { return call(mark, 0o666|ipcCreate) }, func(mark string) bool { return call(mark, 0) }}
}

const ipcCreate = 0o1000

// file leaves and finds a file in a directory.
func file(dir string) place {
	return place{
		dir,
		func(mark string) bool { return os.WriteFile(filepath.Join(dir, mark), nil, 0o666) == nil },
		func(mark string) bool { _, err := os.Lstat(filepath.Join(dir, mark)); return err == nil },
	}
}

// keyring leaves and finds a key.
func keyring(name string, ring int) place {
	return place{
		name,
		func(mark string) bool { _, err := unix.AddKey("user", mark, []byte(mark), ring); return err == nil },
		func(mark string) bool { _, err := unix.KeyctlSearch(ring, "user", mark, 0); return err == nil },
	}
}

// sockets keeps what is listened on.
var sockets []net.Listener

func messageQueue(mark string, flags uintptr) bool {
	name, err := unix.BytePtrFromString(mark)
	if err != nil {
		return false
	}
	_, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), flags, 0o666, 0, 0, 0)
	return errno == 0
}

var places = []place{
	ipc("shared memory", unix.SYS_SHMGET, 2, 4096, 0),
	ipc("semaphores", unix.SYS_SEMGET, 2, 1, 0),
	ipc("messages", unix.SYS_MSGGET, 1, 0),
	{
		"a queue of POSIX",
		func(mark string) bool { return messageQueue(mark, unix.O_CREAT|unix.O_RDWR) },
		func(mark string) bool { return messageQueue(mark, unix.O_RDWR) },
	},
	keyring("the user's keyring", unix.KEY_SPEC_USER_KEYRING),
	keyring("the session's keyring", unix.KEY_SPEC_SESSION_KEYRING),
	keyring("the keyring of the user's session", unix.KEY_SPEC_USER_SESSION_KEYRING),
	{
		"an abstract socket",
		func(mark string) bool {
			l, err := net.Listen("unix", "@"+mark)
			sockets = append(sockets, l)
			return err == nil
		},
		func(mark string) bool { return dial(mark) == nil },
	},
	file("/dev/shm"), file("/dev/mqueue"), file("/tmp"), file("/var/tmp"), file("/run"), file("/run/lock"), file("/var/lock"), file("/var/crash"), file("/"),
}

func init() {
	acts["leave marks"] = func(mark string) error {
		for _, p := range places {
			if p.leave(mark) {
				fmt.Println("left", p.name)
			}
		}
		fmt.Println("all")
		for {
			_ = unix.Pause() // a signal of the runtime ends it
		}
	}
	acts["find marks"] = func(mark string) error {
		for _, p := range places {
			if p.find(mark) {
				fmt.Println("found", p.name)
			}
		}
		return nil
	}
}

// TestMarks leaves marks wherever a program can, and looks for them from another session, while
// the program runs and afterwards.
func TestMarks(t *testing.T) {
	t.Parallel()
	for _, level := range []isolation.Level{isolation.Full, isolation.Partial, isolation.None} {
		t.Run(string(level), func(t *testing.T) {
			need(t, level)
			mark := fmt.Sprintf("fevalgraph-test-%d-%s", os.Getpid(), level)
			t.Cleanup(func() { unmark(mark) })
			ctx, cancel := context.WithCancelCause(t.Context())
			read, write := io.Pipe()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				defer write.Close()
				acting(t, ctx, level, "leave marks="+mark, write)
			}()
			var left []string
			lines := bufio.NewScanner(read)
			for lines.Scan() && lines.Text() != "all" {
				left = append(left, strings.TrimPrefix(lines.Text(), "left "))
			}
			find := func(when string) {
				t.Helper()
				var said bytes.Buffer
				acting(t, t.Context(), level, "find marks="+mark, &said)
				for _, p := range places {
					found := strings.Contains(said.String(), "found "+p.name+"\n")
					if known := level == isolation.None || p.name == "an abstract socket" && !isolation.Scoped(); found && !known {
						t.Errorf("%s, %s: another session finds the mark", when, p.name)
					}
				}
				if level == isolation.None && when == "running" && !strings.Contains(said.String(), "found") {
					t.Errorf("without isolation no mark is found:\n%s", &said)
				}
			}
			find("running")
			cancel(errors.New("enough"))
			go io.Copy(io.Discard, read)
			<-ended
			find("ended")
			t.Logf("marks can be left in %v", slices.Compact(left))
		})
	}
}

// unmark removes what level None left.
func unmark(mark string) {
	for get, control := range map[uintptr]uintptr{unix.SYS_SHMGET: unix.SYS_SHMCTL, unix.SYS_SEMGET: unix.SYS_SEMCTL, unix.SYS_MSGGET: unix.SYS_MSGCTL} {
		if id, _, errno := unix.Syscall(get, key(mark), 0, 0); errno == 0 {
			const remove = 0 // IPC_RMID, or the first semaphore
			_, _, _ = unix.Syscall(control, id, remove, 0)
		}
	}
	if name, err := unix.BytePtrFromString(mark); err == nil {
		_, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0)
	}
	for _, ring := range []int{unix.KEY_SPEC_USER_KEYRING, unix.KEY_SPEC_SESSION_KEYRING, unix.KEY_SPEC_USER_SESSION_KEYRING} {
		if id, err := unix.KeyctlSearch(ring, "user", mark, 0); err == nil {
			_, _ = unix.KeyctlInt(unix.KEYCTL_UNLINK, id, ring, 0, 0)
		}
	}
	for _, p := range places {
		if strings.HasPrefix(p.name, "/") {
			_ = os.Remove(filepath.Join(p.name, mark))
		}
	}
}
