package lazyregexp

import "testing"

func TestNew(t *testing.T) {
	wrong := New("(") // must not panic before the first use
	word := New(`^\w+$`)
	if !word().MatchString("word") || word().MatchString("two words") {
		t.Error("the expression matches other texts")
	}
	if first := word(); word() != first {
		t.Error("the expression is compiled for each call")
	}
	for range 2 { // the second call must not return nil
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic for a bad expression")
				}
			}()
			wrong()
		}()
	}
}
