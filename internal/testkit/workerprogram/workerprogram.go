// Package workerprogram builds fevalgraph-worker for tests whose containers need it.
package workerprogram

import (
	"fmt"
	"os"
	"os/exec"
)

// Build builds the program as a file. Like test binaries, it has no revision.
func Build(file string) error {
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", file, "github.com/fevalgraph/fevalgraph/cmd/fevalgraph/fevalgraph-worker")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building fevalgraph-worker: %w: %s", err, said)
	}
	return nil
}
