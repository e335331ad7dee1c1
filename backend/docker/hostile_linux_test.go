package docker_test

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
	"github.com/fevalgraph/fevalgraph/cache"
)

// A program that fills the disk gets to feel it itself; what it took is given
// back with its session.
func TestDiskFull(t *testing.T) {
	d := daemon(t)
	small := t.TempDir()
	if err := syscall.Mount("none", small, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("needs a small file system, and so root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(small, 0); err != nil {
			t.Error(err)
		}
	})
	b := docker.New(cache.NewMemory(), d, docker.Options{Image: baseImage, Network: "none", Scratch: small, Project: "test", Run: t.Name(), Grace: 300 * time.Millisecond})
	for range 2 {
		s := open(t, b, backend.Spec{Inputs: []backend.Input{{Path: "f", Content: []byte("x")}}})
		cmd, out := sh(`dd if=/dev/zero of=fill bs=64k 2>&1; echo x > "$HOME/more" || exit 3`), bytes.Buffer{}
		cmd.Output, cmd.Timeout = &out, guard
		exit, err := s.Exec(t.Context(), cmd)
		if err != nil || exit.Code != 3 || !strings.Contains(out.String(), "No space left on device") {
			t.Errorf("got %+v, %v: %s", exit, err, out.String())
		}
		if got := output(t, s, sh("rm fill; cat f")); got != "x" {
			t.Errorf("afterwards: %q", got)
		}
		output(t, s, sh("dd if=/dev/zero of=fill bs=64k 2>/dev/null || true"))
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(small); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// Whatever a program with root's name writes, wherever it may, is gone with its
// session, and seen by no other.
func TestRootLeavesNothing(t *testing.T) {
	d := daemon(t)
	const mess = `echo x >/etc/mess; echo x >/bin/mess; echo x >/tmp/mess
mkdir -p a/b && echo x >a/b/c && chmod 0 a/b/c a/b a; mkdir locked; echo x >locked/f; chmod 0 locked
mkfifo pipe; ln -s /etc/passwd link; chmod 4755 /bin/mess; echo x >"$HOME/mess"; chmod 0 "$HOME" .`
	for _, byCopy := range []bool{false, true} {
		b, _ := opener(d, docker.Options{Image: baseImage, Network: "none", User: "root", Copy: byCopy})(t)
		s := open(t, b, backend.Spec{Inputs: []backend.Input{{Path: "d/f", Content: []byte("x")}}})
		output(t, s, sh(mess))
		if got := output(t, s, sh("cat /etc/mess d/f; ls -A | wc -l")); strings.Join(strings.Fields(got), " ") != "x x5" && strings.Join(strings.Fields(got), " ") != "x x 5" {
			t.Errorf("copied %v: the session's next command sees %q", byCopy, got)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("copied %v: closing: %v", byCopy, err)
		}
		other := open(t, b, backend.Spec{})
		if got := output(t, other, sh(`ls -A . "$HOME" /etc/mess /bin/mess /tmp/mess 2>/dev/null | grep -c mess; true`)); got != "0" {
			t.Errorf("copied %v: another session sees %s files", byCopy, got)
		}
	}
}
