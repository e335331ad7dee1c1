package plan

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestAddress(t *testing.T) {
	for _, try := range []struct {
		parts []string
		want  string
	}{
		{[]string{"tally"}, "k:tally"},
		{[]string{"tally", "", "one"}, "k:tally/one"},
		{[]string{"a/b", "c"}, "k:a%2Fb/c"},
		{[]string{"a", "b", "c"}, "k:a/b/c"},
		{[]string{"a%2Fb", "c"}, "k:a%252Fb/c"},
		{[]string{`agent["a/b"]`, `x["%\"]"]@local.host#2`}, `k:agent["a/b"]/x["%\"]"]@local.host#2`},
		{[]string{`x["a`, `b"]`}, `k:x[%22a/b%22]`},
		{[]string{`x["a"`, `]`}, `k:x[%22a%22/]`},
		{[]string{"größe ü"}, "k:größe ü"},
	} {
		if got := address("k", try.parts[0], try.parts[1:]...); got != try.want {
			t.Errorf("%q: %s, want %s", try.parts, got, try.want)
		}
	}
}

// No two lists of names have one address.
func TestAddressesDiffer(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	pieces := []string{"a", "/", "%", "2F", "[", "]", `"`, `["`, `"]`, `\`, `["a/b"]`}
	name := func() string {
		s := "a"
		for range rng.IntN(5) {
			s += pieces[rng.IntN(len(pieces))]
		}
		return s
	}
	seen := map[string]string{}
	for range 200_000 {
		names := []string{name(), name(), name()}[:1+rng.IntN(3)]
		all := strings.Join(names, "\x00")
		addr := address("k", names[0], names[1:]...)
		if other, ok := seen[addr]; ok && other != all {
			t.Fatalf("%q and %q have the address %s", other, all, addr)
		}
		seen[addr] = all
	}
}
