package session

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
)

// key returns the key of a manifest that describe writes.
func key(describe func(*graph.Manifest)) string {
	var m graph.Manifest
	describe(&m)
	return m.Key().String()
}

func TestDescribe(t *testing.T) {
	base := Environment{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}}
	for _, c := range []struct {
		name  string
		l     Environment
		equal bool // the key of the base
	}{
		{"the order of names", Environment{{Name: "B", Value: "2"}, {Name: "A", Value: "1"}}, true},
		{"overridden values", Environment{{Name: "A", Value: "0"}, {Name: "B", Value: "2"}, {Name: "A", Value: "1"}}, true},
		{"an unhashed variable", append(slices.Clone(base), Variable{Name: "HTTP_PROXY", Value: "x", Unhashed: true}), true},
		{"another value", Environment{{Name: "A", Value: "1"}, {Name: "B", Value: "3"}}, false},
		{"a later value", append(slices.Clone(base), Variable{Name: "A", Value: "3"}), false},
		{"a missing variable", base[:1], false},
		{"an empty variable", append(slices.Clone(base), Variable{Name: "C"}), false},
		{"a secret whose name is the value", Environment{{Name: "A", Value: "1"}, {Name: "B", Secret: "2"}}, false},
	} {
		if got := key(c.l.Describe) == key(base.Describe); got != c.equal {
			t.Errorf("%s: equal keys are %v, want %v", c.name, got, c.equal)
		}
	}
}

// TestDescribeSecret keeps the values of secrets out of keys, and their names in.
func TestDescribeSecret(t *testing.T) {
	secret := func(name, value string) string {
		return key(Environment{{Name: "TOKEN", Value: value, Secret: name}}.Describe)
	}
	if secret("token", "old") != secret("token", "new") {
		t.Error("the value of a secret is in the key")
	}
	if secret("token", "old") == secret("other", "old") {
		t.Error("the name of a secret is not in the key")
	}
}

// TestPassed hides names and passwords of URLs from all commands except preparing ones.
func TestPassed(t *testing.T) {
	for _, c := range []struct{ value, bare, secret string }{
		{"http://proxy:3128", "http://proxy:3128", ""},
		{"http://user:p4ssw0rd-long@proxy:3128/", "http://proxy:3128/", "p4ssw0rd-long"},
		{"user:p4ssw0rd-long@proxy:3128", "proxy:3128", "p4ssw0rd-long"},
		{"https://p4ssw0rd-long@index/simple", "https://index/simple", "p4ssw0rd-long"},
		{"https://user:p%40ss/w0rd@index/simple", "https://user:p%40ss/w0rd@index/simple", ""}, // no URL: the slash ends the host
		{"https://user:p%40ssw0rd@index/simple", "https://index/simple", "p@ssw0rd"},
		{"https://user:p@ssw0rds@index/simple", "https://index/simple", "p@ssw0rds"},
		{"https://user:word@index/simple", "https://index/simple", "user:word"},
		{"one=https://a:p4ssw0rd-1@one/x two=https://b:p4ssw0rd-2@two/x", "one=https://one/x two=https://two/x", "p4ssw0rd-2"},
		{"https://index/simple/name@1.0", "https://index/simple/name@1.0", ""},
		{"/etc/ssl/certificate.pem", "/etc/ssl/certificate.pem", ""},
	} {
		l := Environment{{Name: "A", Value: c.value}, {Name: "P", Value: c.value, Unhashed: true, Passed: true}}
		if got, want := l.Variables(), []string{"A=" + c.value, "P=" + c.bare}; !slices.Equal(got, want) {
			t.Errorf("Variables: %q, want %q", got, want)
		}
		if got, want := l.Preparing(), []string{"A=" + c.value, "P=" + c.value}; !slices.Equal(got, want) {
			t.Errorf("Preparing: %q, want %q", got, want)
		}
		if got := l.Masked(); len(got) > 0 != (c.secret != "") || c.secret != "" && !slices.Contains(got, c.secret) {
			t.Errorf("Masked: %q of %s, want %q", got, c.value, c.secret)
		}
		if len(l.Secrets()) > 0 {
			t.Errorf("Secrets: %q, which keys would depend on", l.Secrets())
		}
	}
}

func TestList(t *testing.T) {
	l := Environment{{Name: "A", Value: "1"}, {Name: "T", Value: "s3cret", Secret: "token"}, {Name: "A", Value: "x=y"}, {Name: "P", Value: "p", Unhashed: true}}
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
	if got := Environment(nil).Variables(); got == nil || len(got) != 0 {
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
