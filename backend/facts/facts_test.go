package facts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/proof"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "facts.json")
	f := Read(path, proof.Place{})
	if _, known := f.Get(Platform); known {
		t.Fatal("a file that is not there knows something")
	}
	want := Fact{Text: "linux", Path: "/usr/bin/python3"}
	if err := f.Put(map[string]Fact{Platform: want}); err != nil {
		t.Fatal(err)
	}
	if err := f.Put(map[string]Fact{Isolation: {Text: "full"}}); err != nil {
		t.Fatal(err)
	}
	again := Read(path, proof.Place{})
	if got, known := again.Get(Platform); !known || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v", got, known)
	}
	all := again.All()
	if len(all) != 2 {
		t.Errorf("all is %v", all)
	}
	all["more"] = Fact{}
	if len(again.All()) != 2 {
		t.Error("All does not return a copy")
	}
	for _, damage := range []string{"", "null", "[1]", `{"platform": 1}`} {
		if err := os.WriteFile(path, []byte(damage), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := Read(path, proof.Place{}).All(); len(got) != 0 {
			t.Errorf("the damaged file %q has %v", damage, got)
		}
	}
}

func TestDifference(t *testing.T) {
	one, two := backend.Field{Label: "uname", Value: "5"}, backend.Field{Label: "python", Value: "3.11"}
	newer := backend.Field{Label: "uname", Value: "6"}
	for _, try := range []struct {
		before, now Fact
		want        string
	}{
		{Fact{Identity: backend.Identity{one, two}}, Fact{Identity: backend.Identity{newer, two}}, `uname was "5" and is "6"`},
		{Fact{Identity: backend.Identity{one, two}}, Fact{Identity: backend.Identity{one}}, `python was "3.11" and is missing`},
		{Fact{Identity: backend.Identity{one}}, Fact{Identity: backend.Identity{one, two}}, `python was missing and is "3.11"`},
		{Fact{Text: "none"}, Fact{Text: "full"}, `isolation was "none" and is "full"`},
		{Fact{Path: "/a", Text: "3.11"}, Fact{Path: "/b", Text: "3.11"}, `isolation was "/a 3.11" and is "/b 3.11"`},
	} {
		if got := Difference(Isolation, try.before, try.now); got != try.want {
			t.Errorf("%q, want %q", got, try.want)
		}
	}
}

// machine answers each question in its own way.
type machine struct{ backend.Backend }

func (machine) Identity(context.Context) (backend.Identity, error) {
	return backend.Identity{{Label: "asked", Value: "identity"}}, nil
}

func (m machine) Capabilities() backend.Capabilities {
	return backend.Capabilities{
		Isolation: func() string { return "full" },
		BareIdentity: func(context.Context) (backend.Identity, error) {
			return backend.Identity{{Label: "asked", Value: "bare"}}, nil
		},
		Programs: func(_ context.Context, words []string) (backend.Identity, error) {
			var all backend.Identity
			for _, word := range words {
				all = append(all, backend.Field{Label: word, Value: "there"})
			}
			return all, nil
		},
	}
}

func TestAsk(t *testing.T) {
	field := func(label, value string) Fact {
		return Fact{Identity: backend.Identity{{Label: label, Value: value}}}
	}
	for what, want := range map[string]Fact{
		Identity: field("asked", "identity"), Bare: field("asked", "bare"), Programs + "gcc": field("gcc", "there"), Isolation: {Text: "full"},
	} {
		got, err := Ask(t.Context(), machine{}, nil, what)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	if _, err := Ask(t.Context(), machine{}, nil, Sandbox); !errors.Is(err, ErrNoSandbox) {
		t.Errorf("without a sandbox: %v", err)
	}
}
