package tasks

import (
	"runtime"

	"golang.org/x/sync/errgroup"
)

// worthSharing is the number of bytes from which several processors are used: for less, as in most
// submissions, one is done before the others begin.
const worthSharing = 1 << 20

// sideBySide calls do for 0 to n-1, on all processors if the work has enough bytes. It returns the error
// of the lowest number; after an error, not all calls need have been made.
func sideBySide(n int, bytes int64, do func(i int) error) error {
	if n < 2 || bytes < worthSharing {
		for i := range n {
			if err := do(i); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, n)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error {
			errs[i] = do(i)
			return nil
		})
	}
	_ = group.Wait() // they never return an error
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
