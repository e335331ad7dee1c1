package backend

import (
	"errors"
	"testing"
)

func TestPreparations(t *testing.T) {
	var p Preparations
	made := 0
	do := func(name string, err error) (string, error) {
		return p.Do(nil, name, func() (string, error) {
			made++
			return name + "'s", err
		})
	}
	lost := errors.New("lost")
	if got, err := do("a", lost); got != "" || err != lost {
		t.Errorf("got %q, %v", got, err)
	}
	for range 2 {
		if got, err := do("a", nil); got != "a's" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if made != 2 {
		t.Errorf("prepared %d times, want once after the error", made)
	}
	p.Forget(nil, "a")
	if _, _ = do("a", nil); made != 3 {
		t.Errorf("prepared %d times, want once more after it was forgotten", made)
	}
}
