package environ

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
)

// key is of a manifest that describe writes.
func key(describe func(*graph.Manifest)) string {
	var m graph.Manifest
	describe(&m)
	return m.Key().String()
}

func TestDescribe(t *testing.T) {
	base := List{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}}
	for _, c := range []struct {
		name  string
		l     List
		equal bool // the key of the base
	}{
		{"the order of names", List{{Name: "B", Value: "2"}, {Name: "A", Value: "1"}}, true},
		{"overridden values", List{{Name: "A", Value: "0"}, {Name: "B", Value: "2"}, {Name: "A", Value: "1"}}, true},
		{"an unhashed variable", append(slices.Clone(base), Var{Name: "HTTP_PROXY", Value: "x", Unhashed: true}), true},
		{"another value", List{{Name: "A", Value: "1"}, {Name: "B", Value: "3"}}, false},
		{"a later value", append(slices.Clone(base), Var{Name: "A", Value: "3"}), false},
		{"a missing variable", base[:1], false},
		{"an empty variable", append(slices.Clone(base), Var{Name: "C"}), false},
		{"a secret whose name is the value", List{{Name: "A", Value: "1"}, {Name: "B", Secret: "2"}}, false},
	} {
		if got := key(c.l.Describe) == key(base.Describe); got != c.equal {
			t.Errorf("%s: equal keys are %v, want %v", c.name, got, c.equal)
		}
	}
}

// TestDescribeSecret keeps the values of secrets out of keys, and their names in.
func TestDescribeSecret(t *testing.T) {
	secret := func(name, value string) string {
		return key(List{{Name: "TOKEN", Value: value, Secret: name}}.Describe)
	}
	if secret("token", "old") != secret("token", "new") {
		t.Error("the value of a secret is in the key")
	}
	if secret("token", "old") == secret("other", "old") {
		t.Error("the name of a secret is not in the key")
	}
}

func TestList(t *testing.T) {
	l := List{{Name: "A", Value: "1"}, {Name: "T", Value: "s3cret", Secret: "token"}, {Name: "A", Value: "x=y"}, {Name: "P", Value: "p", Unhashed: true}}
	if got, want := l.Variables(), []string{"A=1", "T=s3cret", "A=x=y", "P=p"}; !slices.Equal(got, want) {
		t.Errorf("Variables: %q, want %q", got, want)
	}
	if got, want := l.Secrets(), []string{"s3cret"}; !slices.Equal(got, want) {
		t.Errorf("Secrets: %q, want %q", got, want)
	}
	for name, want := range map[string]string{"A": "x=y", "T": "s3cret", "P": "p", "a": "", "": ""} {
		if got := l.Value(name); got != want {
			t.Errorf("Value(%q) = %q, want %q", name, got, want)
		}
	}
	if got := List(nil).Variables(); got == nil || len(got) != 0 {
		t.Errorf("Variables of an empty list: %#v; nil would inherit the caller's environment", got)
	}
}

func TestDescribeBackend(t *testing.T) {
	failed := errors.New("failed")
	described := func(fields backend.Identity, want error) string {
		return key(func(m *graph.Manifest) {
			err := DescribeBackend(t.Context(), m, func(context.Context) (backend.Identity, error) { return fields, want })
			if !errors.Is(err, want) {
				t.Errorf("error %v, want %v", err, want)
			}
		})
	}
	python := backend.Identity{{Label: "python", Value: "3.12"}}
	keys := []string{described(nil, nil), described(python, nil), described(backend.Identity{{Label: "python", Value: "3.13"}}, nil)}
	if slices.Sort(keys); len(slices.Compact(keys)) != 3 {
		t.Error("backends that differ have equal keys")
	}
	described(nil, failed)
}
