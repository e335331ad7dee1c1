package workerhost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/workerprogram"
)

// A container opens its session while a program of the same user elsewhere holds all queued signals that commands can
// have. While such a program holds nearly all that the kernel gives to a user, the session is crowded.
func TestContainerBesideHolder(t *testing.T) {
	const holder = "FEVALGRAPH_TEST_HOLDS"
	if what := os.Getenv(holder); what != "" {
		fmt.Println(backendtest.Hold(what))
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	if os.Getuid() != 0 {
		t.Skip("needs root, to start processes of another user")
	}
	program := filepath.Join(t.TempDir(), "program")
	if err := errors.Join(workerprogram.Build(program), os.Chmod(filepath.Dir(filepath.Dir(program)), 0o755)); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]string{"nothing": "", "signals": "queued signals", "descriptors": "descriptors", "pipes": "pipe-user-pages-soft"} {
		t.Run(what, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			other := exec.CommandContext(ctx, "/proc/self/exe", "-test.run=^TestContainerBesideHolder$")
			other.Env = append(os.Environ(), holder+"="+what)
			other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: crowdedUser, Gid: crowdedUser}}
			_, from, end := start(t, other)
			var said string
			if _, err := fmt.Fscan(from, &said); err != nil || said != "<nil>" {
				t.Fatalf("the other program: %q, %v", said, err)
			}
			s := inContainer(ctx, t, program)
			var out bytes.Buffer
			exit, err := s.Exec(ctx, backend.Command{Argv: []string{"/bin/sh", "-c", "id -u; ulimit -n"}, Env: []string{"PATH=/usr/bin:/bin"}, Output: &out})
			if err != nil || exit.Code != 0 || out.String() != fmt.Sprintln(crowdedUser)+"1024\n" {
				t.Errorf("%+v, %v: %q", exit, err, &out)
			}
			if err := s.Verify(ctx); (err == nil) != (want == "") || err != nil && (!errors.Is(err, backend.ErrSpoiled) || !strings.Contains(err.Error(), want)) {
				t.Errorf("next to it: %v, want %q", err, want)
			}
			end()
			if err := s.Verify(ctx); err != nil {
				t.Errorf("after it: %v", err)
			}
			out.Reset()
			if _, err := s.Exec(ctx, backend.Command{Argv: []string{"/bin/sh", "-c", "ulimit -n"}, Env: []string{"PATH=/usr/bin:/bin"}, Output: &out}); err != nil || out.String() != "1024\n" {
				t.Errorf("a limit after looking: %v, %q", err, &out)
			}
		})
	}
}

const crowdedUser = 61187 // has no other process

// inContainer opens a session as the first process of a container of crowdedUser does.
func inContainer(ctx context.Context, t *testing.T, program string) *worker.Stream {
	t.Helper()
	dir := t.TempDir()
	config, err := json.Marshal(backend.Container{
		User: fmt.Sprint(crowdedUser), Work: filepath.Join(dir, "work"), Home: filepath.Join(dir, "home"), Temp: filepath.Join(dir, "tmp"),
		Blobs: filepath.Join(dir, "blobs"), Copied: true,
	})
	if err := errors.Join(err, os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	first := exec.CommandContext(ctx, program, backend.ContainerCommand, string(config))
	first.Stderr = t.Output()
	first.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: crowdedUser, Gid: crowdedUser}, Cloneflags: unix.CLONE_NEWPID,
		AmbientCaps: []uintptr{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETPCAP, unix.CAP_SETUID},
	}
	to, from, _ := start(t, first)
	s, err := worker.OpenStream(ctx, from, to, cache.NewMemory(), backend.Spec{Name: "node"})
	if err != nil {
		t.Fatalf("opening the session: %v", err)
	}
	return s
}

// start starts a program that ends with its input, and returns its input and output; end ends it.
func start(t *testing.T, cmd *exec.Cmd) (to io.Writer, from io.Reader, end func()) {
	t.Helper()
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		_ = input.Close()
		_ = cmd.Wait()
	})
	t.Cleanup(end)
	return input, output, end
}
