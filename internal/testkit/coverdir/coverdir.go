// Package coverdir lets processes that are the test binary write their coverage: under
// -cover each of them needs GOCOVERDIR, or it prints a warning when it exits. A process that
// inherits the environment of the test has it from "go test"; this package is for processes
// with an environment of their own.
package coverdir

import (
	"os"
	"testing"
)

const variable = "GOCOVERDIR"

// Env returns the variable for a process that can write where the test can: what it covers
// is part of the profile of the test. Without -cover it returns nil.
func Env() []string {
	if dir := os.Getenv(variable); dir != "" {
		return In(dir)
	}
	return nil
}

// In returns the variable for a process that can write to dir alone, such as "." in a
// container. What it covers is lost. Without -cover it returns nil.
func In(dir string) []string {
	if testing.CoverMode() == "" {
		return nil
	}
	return []string{variable + "=" + dir}
}
