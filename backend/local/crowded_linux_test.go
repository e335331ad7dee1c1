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

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/cache"
)

// A session next to another program of its user that holds nearly all descriptors in messages, or pages of pipes, is
// crowded, before a command and after it.
func TestCrowdedByUser(t *testing.T) {
	const holder = "FEVALGRAPH_TEST_HOLDS"
	if what := os.Getenv(holder); what != "" {
		if err := backendtest.Hold(what); err != nil {
			t.Fatal(err)
		}
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
