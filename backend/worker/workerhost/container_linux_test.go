package workerhost

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/workerprogram"
)

// A container opens its session while a command of the same user elsewhere holds as many queued signals as it can.
func TestContainerBesideQueuedSignals(t *testing.T) {
	const neighbour = "FEVALGRAPH_TEST_NEIGHBOUR"
	if os.Getenv(neighbour) != "" {
		fmt.Println(queueSignals())
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	if os.Getuid() != 0 {
		t.Skip("needs root, to start processes of another user")
	}
	const user = 61187 // has no other process
	dir := t.TempDir()
	for _, place := range []string{filepath.Dir(dir), dir} { // the user must reach the program
		if err := os.Chmod(place, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "program")
	if err := workerprogram.Build(program); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()

	other := exec.CommandContext(ctx, "/proc/self/exe", "-test.run=^"+t.Name()+"$")
	other.Env = append(os.Environ(), neighbour+"=1")
	other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	end, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = end.Close(); _ = other.Wait() }()
	var queued int
	if _, err := fmt.Fscan(said, &queued); err != nil || queued < 1000 {
		t.Fatalf("the other command queues %d signals: %v", queued, err)
	}

	config, err := json.Marshal(backend.Container{
		User: "1000:1000", Work: filepath.Join(dir, "work"), Home: filepath.Join(dir, "home"), Temp: filepath.Join(dir, "tmp"),
		Blobs: filepath.Join(dir, "blobs"), Copied: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var errors bytes.Buffer
	first := exec.CommandContext(ctx, program, backend.ContainerCommand, string(config))
	first.Stderr = &errors
	first.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: user, Gid: user}, Cloneflags: unix.CLONE_NEWPID,
		AmbientCaps: []uintptr{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETPCAP, unix.CAP_SETUID},
	}
	to, err := first.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = to.Close(); _ = first.Wait() }()
	s, err := worker.OpenStream(ctx, from, to, cache.NewMemory(), backend.Spec{Name: "node"})
	if err != nil {
		t.Fatalf("opening the session: %v: %s", err, &errors)
	}
	var out bytes.Buffer
	exit, err := s.Exec(ctx, backend.Command{Argv: []string{"/bin/sh", "-c", "id -u; grep -o 'signals *[0-9].*[0-9]' /proc/self/limits | tr -s ' '"}, Env: []string{"PATH=/usr/bin:/bin"}, Output: &out})
	if err != nil || exit.Code != 0 || out.String() != fmt.Sprintf("1000\nsignals %[1]d %[1]d\n", queued) {
		t.Errorf("%+v, %v: %q", exit, err, &out)
	}
}

// queueSignals queues as many signals as a command can, and returns their number.
func queueSignals() (n int) {
	runtime.LockOSThread()
	backend.SetLimits(0)
	const signal, queued = 64, -1 // SI_QUEUE
	blocked := uint64(1) << (signal - 1)
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_BLOCK, uintptr(unsafe.Pointer(&blocked)), 0, 8, 0, 0)
	info := [32]int32{2: queued}
	for {
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_TGSIGQUEUEINFO, uintptr(unix.Getpid()), uintptr(unix.Gettid()), signal, uintptr(unsafe.Pointer(&info)), 0, 0)
		if errno != 0 {
			return n
		}
		n++
	}
}
