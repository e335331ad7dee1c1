//go:build unix && !linux

package main

import (
	"os/exec"
	"testing"
)

// withCanaries does nothing where no attack is held.
func withCanaries(*testing.T, *exec.Cmd) func() { return func() {} }
