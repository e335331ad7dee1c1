package graph

import (
	"strings"
	"testing"
)

func TestSelector(t *testing.T) {
	const addr = `pytest:kvstore/checkpoint_1/agent["gpt, large"]@local.host`
	axes := map[string][]string{
		"problem": {"kvstore"}, "solution": {`agent["gpt, large"]`}, "tag": {"cli", "storage"}, "kind": {"pytest"}, "suite": nil,
	}
	values := func(axis string) []string { return axes[axis] }
	names := []string{"problem", "solution", "tag", "kind", "suite"}
	for _, try := range []struct {
		args string // separated by blanks beside each other: "|"
		want bool
	}{
		{addr, true},
		{"pytest:kvstore", true}, // everything below it
		{"pytest:kvstore/checkpoint_1", true},
		{"pytest:kvstore/check", false}, // whole names only
		{"pytest:kv", false},
		{"kvstore", true}, // without the kind
		{"kvstore/checkpoint_1", true},
		{"checkpoint_1", false}, // from the beginning
		{"parse:kvstore", false},
		{"pytest:*", true}, // * crosses everything
		{"*agent*", true},
		{"*/agent*", true},
		{"**/agent*", true},
		{"*@local.host", true},
		{"*@docker.*", false},
		{"kvstore/checkpoint_?/*", true},
		{"kvstore/checkpoint_??/*", false},
		{"kvstore/*/agent*", true},
		{`kvstore/checkpoint_1/agent["gpt, large"]@local.host`, true},
		{`"kvstore/checkpoint_1/agent[gpt, large]@local.host"`, true}, // quotes are dropped
		{"*agent[gpt*", true}, // brackets are no class
		{"*agent[a-z]pt*", false},
		{"*{agent,x}*", false}, // nor braces, and the comma cuts
		{`*\*`, false},
		{"problem=kvstore", true},
		{"problem=kv*", true},
		{"problem=kv", false},
		{"problem=", false},
		{"solution=agent", true}, // every instance
		{`solution=agent["gpt, large"]`, true},
		{`solution="agent[gpt, large]"`, true},
		{"solution=agent[gpt*", true},
		{"solution=age", false},
		{"tag=storage", true},
		{"tag=web", false},
		{"suite=nightly", false},
		{"problem=kvstore,tag=cli", true},
		{"problem=kvstore,tag=web", false},
		{" problem=kvstore , tag=cli ", true},
		{"tag=web|tag=cli", true},
		{"tag=web|tag=x", false},
		{`*agent["gpt, large"]*,kind=pytest`, true},
	} {
		s, err := ParseSelector(strings.Split(try.args, "|"), names)
		if err != nil {
			t.Errorf("%s: %v", try.args, err)
			continue
		}
		if got := s.Match(addr, values); got != try.want {
			t.Errorf("%s: %v, want %v", try.args, got, try.want)
		}
	}
}

func TestSelectorRefuses(t *testing.T) {
	for arg, want := range map[string]string{
		"problm=x":   `selector "problm=x": no axis "problm"; there are problem, tag`,
		"":           `selector "" has an empty term`,
		" ":          "has an empty term",
		",":          "has an empty term",
		"tag=a,":     "has an empty term",
		",tag=a":     "has an empty term",
		"tag=a,,b":   "has an empty term",
		"tag=a, ,b":  "has an empty term",
		"tag=a,xx=b": `no axis "xx"`,
	} {
		if _, err := ParseSelector([]string{arg}, []string{"problem", "tag"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", arg, err, want)
		}
	}
	// "=" in an instance key is part of an address.
	if _, err := ParseSelector([]string{`kv/agent["a=b"]`, "pytest:x=y", "kv/x=y", "*=y"}, nil); err != nil {
		t.Error(err)
	}
}

func TestSelectorEmpty(t *testing.T) {
	s, err := ParseSelector(nil, nil)
	if err != nil || !s.Empty() || !(*Selector)(nil).Empty() {
		t.Errorf("%v, %v", s, err)
	}
	if s, _ := ParseSelector([]string{"x"}, nil); s.Empty() {
		t.Error("one term is not empty")
	}
}

func FuzzSelector(f *testing.F) {
	f.Add("problem=kv*,tag=a", "pytest:kv/a")
	f.Add(`*[{\**?`, `a["b, c"]`)
	f.Fuzz(func(t *testing.T, arg, addr string) {
		if s, err := ParseSelector([]string{arg}, []string{"problem"}); err == nil {
			s.Match(addr, func(string) []string { return []string{addr} })
		}
		// Every address selects itself, unless its quotes do not pair up.
		if strings.Count(addr, `"`)%2 == 0 && !strings.ContainsAny(addr, ",=") && strings.TrimSpace(addr) == addr && addr != "" {
			s, err := ParseSelector([]string{addr}, nil)
			if err != nil || !s.Match(addr, nil) {
				t.Errorf("%q does not select itself: %v", addr, err)
			}
		}
	})
}
