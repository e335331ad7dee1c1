package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
)

// actVariable makes this binary perform the act that it names instead of running tests.
const actVariable = "LOCAL_TEST_ACT"

// acts are attempts of an isolated program. They return an error if they are prevented.
var acts = map[string]func(argument string) error{
	"keep a key": func(string) error {
		_, err := unix.AddKey("user", "fevalgraph-test", []byte("mark"), unix.KEY_SPEC_USER_KEYRING)
		return err
	},
	"list keys": func(string) error {
		_, err := unix.KeyctlBuffer(unix.KEYCTL_READ, unix.KEY_SPEC_USER_KEYRING, make([]byte, 100), 0)
		return err
	},
	"trace a process": func(string) error { return onChild(func(pid int) error { return unix.PtraceSeize(pid) }) },
	"trace from its start": func(string) error {
		return (&exec.Cmd{Path: "/bin/true", SysProcAttr: &syscall.SysProcAttr{Ptrace: true}}).Start()
	},
	"write to a traced process": func(string) error {
		return onChild(func(pid int) error {
			if err := unix.PtraceAttach(pid); err != nil {
				return err
			}
			defer func() { _ = unix.PtraceDetach(pid) }()
			var status unix.WaitStatus
			if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
				return err
			}
			var registers unix.PtraceRegs
			if err := unix.PtraceGetRegs(pid, &registers); err != nil {
				return fmt.Errorf("sanitizers need this: %w", err) // not what is tried
			}
			return unix.PtraceSetRegs(pid, &registers)
		})
	},
	"read a process": func(string) error {
		return onChild(func(pid int) error {
			var b [1]byte
			at := unix.RemoteIovec{Base: uintptr(unsafe.Pointer(&b)), Len: 1}
			_, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &b[0], Len: 1}}, []unix.RemoteIovec{at}, 0)
			if errors.Is(err, unix.EFAULT) { // unmapped address
				return nil
			}
			return err
		})
	},
	"take a descriptor": func(string) error {
		return onChild(func(pid int) error {
			process, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				return nil
			}
			_, err = unix.PidfdGetfd(process, 1, 0)
			return err
		})
	},
	"make a namespace of users": func(string) error {
		return (&exec.Cmd{Path: "/bin/true", SysProcAttr: &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}}).Run()
	},
	"unshare a namespace": func(string) error { return unix.Unshare(unix.CLONE_NEWNS) },
	"clone3":              func(string) error { return called(unix.SYS_CLONE3) },
	"io_uring":            func(string) error { return called(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(new([120]byte)))) },
	"bpf":                 func(string) error { return called(unix.SYS_BPF, 5, uintptr(unsafe.Pointer(new([128]byte))), 128) },
	"perf": func(string) error {
		_, err := unix.PerfEventOpen(&unix.PerfEventAttr{Type: 1, Size: 64}, 0, -1, -1, 0)
		return err
	},
	"lease a file": func(string) error {
		file, err := os.Open("/proc/self/exe") // the test's own, and shared with other programs
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
		return err
	},
	"hold 300 terminals": func(string) error {
		for range 300 {
			if _, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0); err != nil {
				return err
			}
		}
		return nil
	},
	"a socket to the host":   func(string) error { return socket(unix.AF_VSOCK) },
	"a socket of the kernel": func(string) error { return socket(unix.AF_ALG) },
	"an abstract socket":     dial,
	"type into a terminal": func(string) error {
		terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			return err
		}
		return unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSTI, 'x')
	},
}

func called(number uintptr, arguments ...uintptr) error {
	arguments = append(arguments, 0, 0, 0)
	_, _, errno := unix.Syscall(number, arguments[0], arguments[1], arguments[2])
	if errno == unix.EINVAL || errno == 0 { // the kernel looked at it
		return nil
	}
	return errno
}

func socket(family int) error {
	_, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if errors.Is(err, unix.ESOCKTNOSUPPORT) {
		return nil
	}
	return err
}

func dial(name string) error {
	c, err := net.Dial("unix", "@"+name)
	if err != nil {
		return err
	}
	return c.Close()
}

// onChild does something to a process that the caller started.
func onChild(do func(pid int) error) error {
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		return nil
	}
	defer child.Process.Kill()
	return do(child.Process.Pid)
}

func init() {
	if name := os.Getenv(actVariable); name != "" {
		os.Exit(act(name)) // at once, as another program would
	}
}

// act does what actVariable names.
func act(name string) int {
	name, argument, _ := strings.Cut(name, "=")
	do, known := acts[name]
	if !known {
		fmt.Println("unknown:", name)
		return 2
	}
	if err := do(argument); err != nil {
		fmt.Print("HELD: ", err)
	} else {
		fmt.Print("done")
	}
	return 0
}

// acting runs an act in a separate session.
func acting(t *testing.T, ctx context.Context, level isolation.Level, name string, output io.Writer) {
	t.Helper()
	program, err := filepath.EvalSymlinks(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, local.Options{Confinement: local.Confinement{Isolation: string(level)}, Lifecycle: local.Lifecycle{Scratch: t.TempDir()}, Probes: local.Probes{Path: backendtest.Path}}, backend.Spec{})
	exit, err := s.Exec(ctx, backend.Command{
		Argv: []string{program}, Env: []string{"PATH=" + backendtest.Path, actVariable + "=" + name}, Output: output,
	})
	if err != nil && ctx.Err() == nil || err == nil && exit.Code != 0 {
		t.Errorf("%s: %+v, %v", name, exit, err)
	}
}

// All acts fail for isolated programs and succeed for others: otherwise the machine would prevent them anyway.
func TestActs(t *testing.T) {
	t.Parallel()
	name := "fevalgraph-test-" + filepath.Base(t.TempDir()) + fmt.Sprint(os.Getpid())
	l, err := net.Listen("unix", "@"+name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, level := range []isolation.Level{isolation.Full, isolation.Partial, isolation.None} {
		t.Run(string(level), func(t *testing.T) {
			need(t, level)
			for act := range acts {
				if strings.HasSuffix(act, " marks") || act == "an abstract socket" && !isolation.Scoped() {
					continue
				}
				var said bytes.Buffer
				acting(t, t.Context(), level, act+"="+name, &said)
				if held := strings.HasPrefix(said.String(), "HELD"); level == isolation.None && held {
					t.Logf("%s: not possible here: %s", act, &said)
				} else if level != isolation.None && !held || strings.Contains(said.String(), "sanitizers need this") {
					t.Errorf("%s: %s", act, &said)
				}
			}
		})
	}
}

// TestAsUser runs the attacks as a user that is not root.
func TestAsUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("the attacks run as this user anyway")
	}
	const user = 65534
	home, err := os.MkdirTemp("", "fevalgraph-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	program := copyOfThis(t, home)
	if err := os.Chown(home, user, user); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.v", "-test.run=^(TestActs|TestMarks|TestAttacks|TestHomeInPath|TestNamedPaths)$")
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "TMPDIR="+home, "HOME="+home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestMarks/full")) && !bytes.Contains(out, []byte("--- SKIP: TestMarks/full")) {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestActsWithoutSignals runs TestActs while no signal of the user can be queued, as while another program has the
// maximum number queued.
func TestActsWithoutSignals(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", `read -r _; exec "$@"`, "sh", os.Args[0], "-test.run=^TestActs$", "-test.v")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_SIGPENDING, &unix.Rlimit{}, nil); err != nil {
		t.Error(err)
	}
	fmt.Fprintln(in)
	if err := cmd.Wait(); err != nil || !strings.Contains(output.String(), "--- PASS: TestActs") {
		t.Errorf("%v\n%s", err, &output)
	}
}
