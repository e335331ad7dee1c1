// Package await waits in tests for actions of other processes and of the system that send no event. For actions
// of the test's own process, use channels, or a bubble of testing/synctest.
package await

import (
	"testing"
	"time"
)

// guard is far longer than anything takes on a busy machine: it ends a test that would hang.
const guard = 3 * time.Minute

// Until waits until a condition holds, and fails the test if it does not. what names the condition in the
// error.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if !For(holds) {
		t.Fatalf("after %v it still does not hold: %s", guard, what)
	}
}

// For waits like Until, for callers without a test. It returns false if the condition does not hold in the end.
func For(holds func() bool) bool {
	for deadline := time.Now().Add(guard); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
