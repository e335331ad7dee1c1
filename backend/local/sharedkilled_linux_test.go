package local_test

import (
	"bufio"
	"context"
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

const sharedOwnerVariable = "LOCAL_TEST_SHARED_OWNER" // directory that TestSharedOwner works in

// TestSharedOwner is no test but the process that TestSharedKilled kills.
func TestSharedOwner(t *testing.T) {
	dir := os.Getenv(sharedOwnerVariable)
	if dir == "" {
		t.Skip("run by TestSharedKilled")
	}
	registry, err := backend.OpenRegistry(filepath.Join(dir, "sessions"), "crashed")
	if err != nil {
		t.Fatal(err)
	}
	b, store := killedBackend(t, dir, registry)
	s, err := b.Open(t.Context(), backend.Spec{Name: "node", Inputs: []backend.Input{asset(t, store)}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Exec(t.Context(), backend.Command{Output: os.Stdout, Argv: []string{"sh", "-c", `
		echo more >>tests/asset/data; rm tests/asset/run; echo pid $$; exec sleep 1000`}})
	t.Error("the command ended", err)
}

func killedBackend(t *testing.T, dir string, registry *backend.Registry) (*local.Backend, *cache.Disk) {
	t.Helper()
	store, err := cache.OpenDisk(filepath.Join(dir, "store"), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return local.New(store, local.Options{Scratch: filepath.Join(dir, "scratch"), Registry: registry, Path: backendtest.Path, ShareFrom: 1}), store
}

// A run that is killed leaves no mount, and nothing that was written to shared
// files.
func TestSharedKilled(t *testing.T) {
	needSharing(t)
	dir := t.TempDir()
	owner := exec.Command(os.Args[0], "-test.run=^TestSharedOwner$")
	owner.Env = append(os.Environ(), sharedOwnerVariable+"="+dir)
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	pid := ""
	for lines := bufio.NewScanner(out); pid == "" && lines.Scan(); {
		pid, _ = strings.CutPrefix(lines.Text(), "pid ")
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	if !mounts(t, pid, dir) {
		t.Error("the command has no mount; the test shows nothing")
	}
	if mounts(t, "self", dir) {
		t.Error("a mount of a session is everybody's")
	}
	reaped, err := backend.Reap(t.Context(), filepath.Join(dir, "sessions"), map[string]func(context.Context, backend.Entry) error{local.Kind: local.Reap})
	if err != nil || len(reaped) != 1 || reaped[0].Err != nil {
		t.Fatalf("reaped %+v, %v", reaped, err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "scratch")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	b, store := killedBackend(t, dir, nil)
	if got := says(t, opened(t, b, asset(t, store)), `cat tests/asset/data; tests/asset/run`); got != "data\nran\n" {
		t.Errorf("the next session sees %q", got)
	}
	fresh, err := cache.OpenDisk(store.Dir(), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := fresh.GC(t.Context(), cache.GCOptions{MaxBytes: -1, Now: time.Now().Add(72 * time.Hour)})
	if err != nil || r.Shelves != 0 {
		t.Errorf("gc removed what a session has: %+v, %v", r, err)
	}
}

// mounts reports whether a process sees a mount somewhere below dir.
func mounts(t *testing.T, pid, dir string) bool {
	t.Helper()
	b, err := os.ReadFile("/proc/" + pid + "/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(b), " "+dir)
}
