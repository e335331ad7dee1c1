package reapi

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// longestPause is between two tries of a call.
const longestPause = 5 * time.Second

// Persist makes a call again, with pauses that grow, as long as its error is an *AwayError
// and patience is not used up. It returns the last error, or the cause of ctx.
func Persist(ctx context.Context, patience time.Duration, call func() error) error {
	began := time.Now()
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, longestPause) {
		err := call()
		var away *AwayError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !errors.As(err, &away), time.Since(began) > patience:
			return err
		}
		select {
		case <-time.After(pause + rand.N(pause)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
