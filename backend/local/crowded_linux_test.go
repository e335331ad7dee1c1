package local_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/cache"
)

// A session next to another program of its user that holds nearly all descriptors in messages, or pages of pipes, is
// crowded, before a command and after it.
func TestCrowdedByUser(t *testing.T) {
	const holder = "FEVALGRAPH_TEST_HOLDS"
	if what := os.Getenv(holder); what != "" {
		hold(t, what)
		b := local.New(cache.NewMemory(), local.Options{
			Confinement: local.Confinement{Isolation: string(isolation.Full)},
			Lifecycle:   local.Lifecycle{Scratch: t.TempDir()},
		})
		s, err := b.Open(t.Context(), backend.Spec{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(t.Context())
		fmt.Println(s.Verify(t.Context()))
		// What the program itself leaves ends with it.
		exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"/bin/sh", "-c", "sleep 1000 & exit 3"}})
		fmt.Println(exit.Code, err, s.Verify(t.Context()))
		return
	}
	need(t, isolation.Full)
	if os.Getuid() != 0 {
		t.Skip("needs root, to start processes of another user")
	}
	const user = 61188 // has no other process
	for what, pattern := range map[string]string{
		"nothing":     "^<nil>\n3 <nil> <nil>\n",
		"descriptors": "^.*descriptors as programs of the user can send\n3 <nil> .*descriptors as",
		"pipes":       "^.*pipe-user-pages-soft\n3 <nil> .*pipe-user-pages-soft\n",
	} {
		cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
		dir := t.TempDir()
		if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chown(dir, user, user)); err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), holder+"="+what, "TMPDIR="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		if said, err := cmd.CombinedOutput(); err != nil || !regexp.MustCompile(pattern).Match(said) {
			t.Errorf("%s: %v, %s, want %q", what, err, said, pattern)
		}
	}
}

// hold takes nearly all of what a user can have until this process ends.
func hold(t *testing.T, what string) {
	t.Helper()
	switch what {
	case "descriptors":
		for range 4 {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			files := make([]int, 240)
			for i := range files {
				files[i] = pair[1]
			}
			if err := unix.Sendmsg(pair[0], []byte{0}, unix.UnixRights(files...), nil, 0); err != nil {
				t.Fatal(err)
			}
		}
	case "pipes":
		for {
			var pipe [2]int
			if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
				t.Fatal(err)
			}
			if _, err := unix.FcntlInt(uintptr(pipe[0]), unix.F_SETPIPE_SZ, 1<<20); errors.Is(err, unix.EPERM) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}
