// Package await waits in tests for what other processes and the system do, which
// tell it by no event. What happens in the test's own process is waited for by
// channels, or in a bubble of testing/synctest.
package await

import (
	"testing"
	"time"
)

// guard is far above what anything takes on a busy machine: it ends a test that
// would hang.
const guard = 3 * time.Minute

// Until returns when a condition holds, which it asks for again and again. What
// names the condition in the failure of a test in which it never does.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if !For(holds) {
		t.Fatalf("after %v it still does not hold: %s", guard, what)
	}
}

// For is Until for callers without a test: false when the condition does not hold in the end.
func For(holds func() bool) bool {
	for deadline := time.Now().Add(guard); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
