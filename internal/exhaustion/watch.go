package exhaustion

import "time"

const (
	// lookEvery must be shorter than it takes to fill most file systems and empty them again.
	lookEvery = 20 * time.Millisecond
	// rest limits the share of time for checks to a twentieth.
	rest = 20
)

// Watch calls look repeatedly until it returns an error, or until the caller calls stop, which returns that
// error. A resource that was exhausted only for a moment can have changed the results of programs.
func Watch(look func() error) (stop func() error) {
	ended, result := make(chan struct{}), make(chan error, 1)
	go func() {
		timer := time.NewTimer(lookEvery)
		defer timer.Stop()
		for {
			select {
			case <-ended:
				result <- nil
				return
			case <-timer.C:
			}
			began := time.Now()
			if err := look(); err != nil {
				result <- err
				return
			}
			timer.Reset(lookEvery + rest*time.Since(began))
		}
	}()
	return func() error {
		close(ended)
		return <-result
	}
}
