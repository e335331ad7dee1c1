//go:build unix

package skypilot_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend/skypilot"
)

// TestSSHWords: the output of a failing ssh is in the error, for every use.
func TestSSHWords(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho 'ssh: connect to host login port 22: No route to host' >&2\nexit 255\n"
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	remote := skypilot.SSH{Host: "login"}
	check := func(err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "ssh login: ssh: connect to host login port 22: No route to host") {
			t.Errorf("the error is %v", err)
		}
	}
	_, err := remote.Run(t.Context(), "c", "true", nil)
	check(err)
	conn, err := remote.Dial(t.Context(), "c", "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = io.ReadAll(conn)
	check(err)
	_, err = conn.Write(make([]byte, 1<<20)) // more than a pipe takes
	check(err)
}
