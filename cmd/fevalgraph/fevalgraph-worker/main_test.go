package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// The program stays small, since it is sent to machines and started for each command.
func TestSmall(t *testing.T) {
	deps, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, library := range []string{"github.com/hashicorp/", "github.com/docker/", "google.golang.org/grpc", "github.com/spf13/", "/report", "/lang"} {
		if strings.Contains(string(deps), library) {
			t.Errorf("it links %s", library)
		}
	}
	longtest.Skip(t)
	program := filepath.Join(t.TempDir(), "fevalgraph-worker")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	const most = 12 << 20
	if info, err := os.Stat(program); err != nil || info.Size() > most {
		t.Errorf("it has %d bytes, want at most %d; %v", info.Size(), most, err)
	}
}
