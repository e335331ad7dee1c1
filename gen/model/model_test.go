package model

import (
	"errors"
	"fmt"
	"testing"
)

func TestErrorTexts(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&ThrottledError{Reason: "429: slow down"}, "429: slow down"},
		{&RefusedError{Reason: "401: unknown key"}, "401: unknown key"},
		{&WrongError{Reason: "404: no model x"}, "404: no model x"},
		{&WrongError{Reason: "404: no model x", Hint: "use y"}, "404: no model x (hint: use y)"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%T: %q, want %q", c.err, got, c.want)
		}
	}
	wrapped := fmt.Errorf("asking: %w", &WrongError{Reason: "too long", Maybe: true})
	if wrong := (*WrongError)(nil); !errors.As(wrapped, &wrong) || !wrong.Maybe {
		t.Errorf("%v is not found as a WrongError", wrapped)
	}
}
