package kind_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/eval/kind"
)

// Kinds create a shared object of a site once, unless that failed, and it closes after objects that depend on it.
func TestSite(t *testing.T) {
	type daemon struct{}
	s, made, broken := &kind.Site{}, 0, errors.New("unplugged")
	var closed []string
	open := func(err error) error {
		_, got := kind.Shared(s, daemon{}, func() (int, error) {
			if made++; err == nil {
				s.OnClose(func() error { closed = append(closed, "daemon"); return broken })
			}
			return made, err
		})
		return got
	}
	if err := open(broken); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := errors.Join(open(nil), open(nil)); err != nil || made != 2 {
		t.Errorf("made %d times, %v", made, err)
	}
	s.OnClose(func() error { closed = append(closed, "backend"); return nil })
	if err := s.Close(); !errors.Is(err, broken) || !slices.Equal(closed, []string{"backend", "daemon"}) {
		t.Errorf("closed %q, %v", closed, err)
	}
	if err := s.Close(); err != nil || len(closed) != 2 {
		t.Errorf("closed again: %q, %v", closed, err)
	}
}

func TestProject(t *testing.T) {
	one, other := &kind.Site{State: "/a/.fevalgraph"}, &kind.Site{State: "/b/.fevalgraph"}
	if a, b := one.Project(3), other.Project(3); a == b || len(a) != 6 {
		t.Errorf("projects are called %s and %s", a, b)
	}
}
