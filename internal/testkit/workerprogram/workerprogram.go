// Package workerprogram builds fevalgraph-worker for tests whose containers need it.
package workerprogram

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Build builds the program as a file. Like test binaries, it has no revision.
func Build(file string) error {
	const program = "github.com/fevalgraph/fevalgraph/cmd/fevalgraph/fevalgraph-worker"
	list := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.Dir}}{{end}}", program)
	dirs, err := list.Output()
	if err != nil {
		return fmt.Errorf("listing the packages of fevalgraph-worker: %w", err)
	}
	for dir := range strings.Lines(string(dirs)) {
		_, _ = os.ReadDir(strings.TrimSpace(dir)) // for go's test cache: the test depends on them
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", file, program)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building fevalgraph-worker: %w: %s", err, said)
	}
	return nil
}
