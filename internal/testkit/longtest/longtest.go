// Package longtest marks tests that take seconds of processor time, so that `go test ./...` and `make test` stay
// short. `make test-all` runs all of them.
package longtest

import (
	"os"
	"testing"
)

// variable enables long tests.
const variable = "FEVALGRAPH_TEST_LONG"

// Asked reports whether long tests must run.
func Asked() bool { return os.Getenv(variable) != "" }

// Size returns the size of a test that proves the same with few elements, and finds more with many: many if
// long tests are enabled, else few.
func Size(few, many int) int {
	if Asked() {
		return many
	}
	return few
}

// Skip skips a long test, unless long tests are enabled.
func Skip(t testing.TB) {
	t.Helper()
	if !Asked() {
		t.Skipf("takes long; `make test-all` runs it, or %s=1", variable)
	}
}
