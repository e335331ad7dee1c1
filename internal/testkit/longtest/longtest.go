// Package longtest marks tests that take seconds of the processor, so that `go test ./...`
// stays short. make unit and make race run all of them.
package longtest

import (
	"os"
	"testing"
)

// variable has the long tests run.
const variable = "FEVALGRAPH_TEST_LONG"

// Asked reports whether long tests are to run.
func Asked() bool { return os.Getenv(variable) != "" }

// Size is the size of a test that proves the same with few of something, and finds more with many:
// many where long tests are asked for.
func Size(few, many int) int {
	if Asked() {
		return many
	}
	return few
}

// Skip skips a test that takes long, unless it is asked for.
func Skip(t testing.TB) {
	t.Helper()
	if !Asked() {
		t.Skipf("takes long; `make unit` runs it, or %s=1", variable)
	}
}
