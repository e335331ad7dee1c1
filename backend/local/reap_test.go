//go:build unix

package local_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache"
)

const ownerVariable = "LOCAL_TEST_OWNER" // directory that TestOwner works in

// TestOwner runs only as the process that TestReap kills.
func TestOwner(t *testing.T) {
	dir := os.Getenv(ownerVariable)
	if dir == "" {
		t.Skip("run by TestReap")
	}
	registry, err := backend.OpenRegistry(filepath.Join(dir, "sessions"), "crashed")
	if err != nil {
		t.Fatal(err)
	}
	b := local.New(cache.NewMemory(), local.Options{Lifecycle: local.Lifecycle{Scratch: dir, Registry: registry}, Probes: local.Probes{Path: backendtest.Path}, Confinement: local.Confinement{Isolation: "none"}})
	for _, listens := range []bool{false, true} {
		s, err := b.Open(t.Context(), backend.Spec{Name: "node"})
		if err != nil {
			t.Fatal(err)
		}
		var ports []int
		if listens && local.PrivateNetwork() == nil {
			ports = []int{8080}
		}
		go func() {
			_, _ = s.Exec(context.Background(), backend.Command{Output: os.Stdout, Ports: ports, Argv: []string{"sh", "-c", `
				setsid sh -c 'trap "" TERM HUP; echo pid $$; while :; do sleep 1000; done' &
				env -i /bin/sh -c 'echo pid $$; exec /bin/sleep 1000' &
				echo pid $$; wait`}})
		}()
	}
	select {}
}

func TestReap(t *testing.T) {
	dir := t.TempDir()
	owner := exec.Command(os.Args[0], "-test.run=^TestOwner$")
	owner.Env = append(os.Environ(), ownerVariable+"="+dir)
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []string
	for lines := bufio.NewScanner(out); len(pids) < 6 && lines.Scan(); {
		if pid, ok := strings.CutPrefix(lines.Text(), "pid "); ok {
			pids = append(pids, pid)
		}
	}
	sessions := filepath.Join(dir, "sessions")
	reapers := map[string]func(context.Context, backend.Entry) error{local.Kind: local.Reap}
	if reaped, err := backend.Reap(t.Context(), sessions, reapers); len(reaped) > 0 || err != nil {
		t.Errorf("a living run was reaped: %v, %v", reaped, err)
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	left, err := backend.Leftovers(sessions)
	if err != nil || len(left) != 2 {
		t.Fatalf("leftovers are %v, %v", left, err)
	}
	for _, pid := range pids {
		if !living(pid) {
			t.Errorf("process %s ended before it was reaped; the test shows nothing", pid)
		}
	}
	for _, want := range []int{2, 0} {
		reaped, err := backend.Reap(t.Context(), sessions, reapers)
		if err != nil || len(reaped) != want {
			t.Fatalf("reaped %v, %v", reaped, err)
		}
		for _, r := range reaped {
			if r.Err != nil || r.Entry.Name != "node" || r.Entry.Run != "crashed" {
				t.Errorf("got %+v", r)
			}
			if _, err := os.Stat(r.Entry.Workspace); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("its workspace: %v", err)
			}
		}
	}
	for _, pid := range pids {
		if living(pid) {
			t.Errorf("process %s lives", pid)
		}
	}
	if files, err := os.ReadDir(sessions); err != nil || len(files) > 0 {
		t.Errorf("registry holds %v, %v", files, err)
	}
}

func living(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// A damaged registry must not cause removal of the user's files.
func TestReapDamaged(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	if err := os.Mkdir(precious, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, e := range []backend.Entry{
		{ID: "precious", Workspace: precious, Cookie: "c"},
		{ID: "abcdefghij", Workspace: precious, Cookie: "c"},
		{ID: "abcdefghij", Workspace: "abcdefghij", Cookie: "c"},
		{ID: "abcdefghij", Workspace: filepath.Join(dir, "abcdefghij")},
		{},
	} {
		if err := local.Reap(t.Context(), e); err == nil {
			t.Errorf("%+v was reaped", e)
		}
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
	never := backend.Entry{ID: "abcdefghij", Workspace: filepath.Join(dir, "abcdefghij"), Cookie: fmt.Sprint(time.Now().UnixNano())}
	if err := local.Reap(t.Context(), never); err != nil {
		t.Errorf("a session without files: %v", err)
	}
}
