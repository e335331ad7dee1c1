package retry

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errAway = errors.New("away")

func always(error) bool { return true }

// Half of each pause is random: every pause is above the lower limit and below the upper one.
func TestPatience(t *testing.T) {
	for name, test := range map[string]struct {
		p           Patience
		fails       int // calls that fail
		calls       int // that are made
		least, most time.Duration
	}{
		"none":                     {p: Patience{}, fails: 1, calls: 1},
		"succeeds at once":         {p: Patience{Calls: 3, Pause: time.Second}, calls: 1},
		"succeeds later":           {p: Patience{Calls: 9, Pause: time.Second}, fails: 2, calls: 3, least: time.Second, most: 2 * time.Second},
		"calls used up":            {p: Patience{Calls: 3, Pause: time.Second}, fails: 9, calls: 3, least: time.Second, most: 2 * time.Second},
		"pauses grow":              {p: Patience{Calls: 4, Pause: time.Second, Longest: 3 * time.Second}, fails: 9, calls: 4, least: 3 * time.Second, most: 6 * time.Second},
		"time used up":             {p: Patience{For: 12 * time.Second, Pause: 8 * time.Second, Longest: 16 * time.Second}, fails: 9, calls: 3, least: 12 * time.Second, most: 24 * time.Second},
		"both limits have to be":   {p: Patience{Calls: 2, For: time.Minute, Pause: 50 * time.Second, Longest: 100 * time.Second}, fails: 9, calls: 3, least: 75 * time.Second, most: 150 * time.Second},
		"both limits, calls later": {p: Patience{Calls: 3, For: time.Second, Pause: 4 * time.Second}, fails: 9, calls: 3, least: 4 * time.Second, most: 8 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls, began := 0, time.Now()
			err := test.p.Do(t.Context(), always, func() error {
				if calls++; calls <= test.fails {
					return errAway
				}
				return nil
			})
			if took := time.Since(began); calls != test.calls || (err != nil) != (test.fails >= test.calls) || took < test.least || took > test.most {
				t.Errorf("%s: %d calls in %v: %v", name, calls, took, err)
			}
		})
	}
}

func TestDoEndsAtOnce(t *testing.T) {
	calls := 0
	fail := func() error { calls++; return errAway }
	patient := Patience{For: Forever, Pause: time.Nanosecond}
	if err := patient.Do(t.Context(), func(error) bool { return false }, fail); !errors.Is(err, errAway) || calls != 1 {
		t.Errorf("an error that does not pass: %v after %d calls", err, calls)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	calls = 0
	err := patient.Do(ctx, always, func() error {
		if calls++; calls == 3 {
			cancel(stop)
		}
		return errAway
	})
	if !errors.Is(err, stop) || calls != 3 {
		t.Errorf("a context that ends: %v after %d calls", err, calls)
	}
}

// Progress gives all of the patience back, and the first failure after it is noted again.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notes := 0
		tries := Tries{Patience: Patience{Calls: 3, For: 10 * time.Second, Pause: 6 * time.Second, Note: func(error) { notes++ }}}
		for i := range 20 {
			if i%2 == 0 {
				tries.Progress()
			}
			if err := tries.Wait(t.Context(), errAway); err != nil {
				t.Fatalf("failure %d: %v", i, err)
			}
		}
		if notes != 10 || tries.Failed() != 2 {
			t.Errorf("%d notes, %d failures", notes, tries.Failed())
		}
	})
}
