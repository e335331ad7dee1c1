// Package dockerimage makes images for tests at the daemon that DOCKER_HOST names.
package dockerimage

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Make builds an image from the text of a Dockerfile without a context. It does not look for earlier builds: the
// daemon compares each step with all images on the same base, and fails if a concurrent test removes one of them.
func Make(tag, dockerfile string) error {
	build := exec.Command("docker", "build", "--quiet", "--no-cache", "--tag", tag, "-")
	build.Stdin = strings.NewReader(dockerfile)
	build.Env = append(os.Environ(), "DOCKER_BUILDKIT=0") // the daemon builds; no plugin is needed
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("making image %s: %w\n%s", tag, err, out)
	}
	return nil
}

// Remove removes a tag, and its image unless other images are built on it.
func Remove(tag string) error {
	if out, err := exec.Command("docker", "rmi", "--force", tag).CombinedOutput(); err != nil {
		return fmt.Errorf("removing image %s: %w\n%s", tag, err, out)
	}
	return nil
}
