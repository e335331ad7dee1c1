package local_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/cache"
)

// A separate program isolates processes, even after its file was removed.
func TestIsolator(t *testing.T) {
	need(t, isolation.Full)
	file := copyOfThis(t, t.TempDir())
	b := isolatedBy(t, file)
	for _, remove := range []bool{false, true} {
		if remove {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		if said, err := echo(t, b); said != "hello\n" || err != nil {
			t.Errorf("removed: %v: output %q, error %v", remove, said, err)
		}
	}
}

// A program that does not take over ran nothing, which is an error.
func TestIsolatorReplaced(t *testing.T) {
	need(t, isolation.Full)
	file := copyOfThis(t, t.TempDir())
	b := isolatedBy(t, file)
	if said, err := echo(t, b); said != "hello\n" || err != nil {
		t.Fatalf("output %q, error %v", said, err)
	}
	other, err := os.ReadFile("/bin/true")
	if err == nil {
		err = os.WriteFile(file, other, 0o755) // the same file, which is open
	}
	if err != nil {
		t.Fatal(err)
	}
	if said, err := echo(t, b); err == nil {
		t.Errorf("output %q without an error", said)
	}
}

// If the separate program cannot isolate, this one does.
func TestIsolatorBroken(t *testing.T) {
	need(t, isolation.Full)
	for _, file := range []string{"/bin/true", "/bin/false", "/dev/null", "/nowhere", ""} {
		b := isolatedBy(t, file)
		if level, reason := b.Isolation(); level != isolation.Full || reason != nil {
			t.Errorf("%s: level %s, reason %v", file, level, reason)
		}
		if said, err := echo(t, b); said != "hello\n" || err != nil {
			t.Errorf("%s: output %q, error %v", file, said, err)
		}
	}
}

// copyOfThis returns a copy of the test program, which imports package isolation. A separate process writes it: a
// concurrent test would inherit a file that is open for writing here, and the copy could not be started meanwhile.
func copyOfThis(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "program")
	if out, err := exec.Command("cp", self, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

func isolatedBy(t *testing.T, file string) *local.Backend {
	t.Helper()
	return local.New(cache.NewMemory(), local.Options{Lifecycle: local.Lifecycle{Scratch: t.TempDir()}, Probes: local.Probes{Path: backendtest.Path}, Confinement: local.Confinement{Isolator: func() string { return file }}})
}

// echo runs a command in a session, and returns its output.
func echo(t *testing.T, b *local.Backend) (string, error) {
	t.Helper()
	s, err := b.Open(t.Context(), backend.Spec{})
	if err != nil {
		return "", err
	}
	defer s.Close(t.Context())
	var out bytes.Buffer
	exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"echo", "hello"}, Output: &out})
	if err == nil && exit.Code != 0 {
		t.Errorf("exit %+v", exit)
	}
	return out.String(), err
}
