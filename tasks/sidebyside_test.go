package tasks

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
)

// All calls complete, and the error with the lowest index is returned, regardless of which ended first.
func TestSideBySide(t *testing.T) {
	for _, bytes := range []int64{0, worthSharing} {
		var done [100]atomic.Int32
		err := sideBySide(len(done), bytes, func(i int) error {
			done[i].Add(1)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		for i := range done {
			if n := done[i].Load(); n != 1 {
				t.Errorf("%d bytes: %d was done %d times", bytes, i, n)
			}
		}
		first := errors.New("first")
		err = sideBySide(100, bytes, func(i int) error {
			if i < 50 {
				return nil
			}
			return fmt.Errorf("%d: %w", i, first)
		})
		if !errors.Is(err, first) || err.Error() != "50: first" {
			t.Errorf("%d bytes: %v", bytes, err)
		}
	}
}
