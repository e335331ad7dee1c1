// Package coverdir lets processes that run the test binary write their coverage: under -cover each needs
// GOCOVERDIR, or prints a warning when it exits. A process with the environment of the test gets it from "go
// test"; this package is for processes with a separate environment.
package coverdir

import (
	"os"
	"testing"
)

const variable = "GOCOVERDIR"

// Env returns the variable for a process with access to the test's directory: its coverage becomes part of the
// test's profile. Without -cover it returns nil.
func Env() []string {
	if dir := os.Getenv(variable); dir != "" {
		return In(dir)
	}
	return nil
}

// In returns the variable for a process that can only write to dir, such as "." in a container. Its coverage is
// lost. Without -cover it returns nil.
func In(dir string) []string {
	if testing.CoverMode() == "" {
		return nil
	}
	return []string{variable + "=" + dir}
}
