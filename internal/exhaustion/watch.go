package exhaustion

import "time"

const (
	// lookEvery must be shorter than filling most file systems takes, and emptying them again.
	lookEvery = 20 * time.Millisecond
	// rest bounds the share of time that looks take to a twentieth.
	rest = 20
)

// Watch calls look again and again, until it returns an error or the caller calls stop, which returns
// that error. What a machine had too little of for a moment can have changed what programs did.
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
