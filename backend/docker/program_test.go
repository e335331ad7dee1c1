package docker

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A runner that cannot run on the daemon's machine is a distinct error.
func TestCheckProgram(t *testing.T) {
	other := map[string]string{"amd64": "aarch64"}[runtime.GOARCH]
	if other == "" {
		other = "x86_64"
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, program, architecture, want string }{
		{"another processor", os.Args[0], other, "but the daemon's machine is linux/" + other},
		{"no program", text, other, "containers need fevalgraph-worker"},
		{"nothing", filepath.Join(t.TempDir(), "absent"), other, "containers need fevalgraph-worker"},
		{"no name", "", other, "no program for containers is specified"},
	} {
		if runtime.GOOS != "linux" && test.program == os.Args[0] {
			continue
		}
		f := newFakeDaemon(t)
		f.on["GET /info"] = says200(map[string]any{"OSType": "linux", "Architecture": test.architecture})
		b := New(nil, f.Daemon, Options{Origin: Origin{Image: "img"}, Program: test.program})
		if _, err := b.Identity(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
