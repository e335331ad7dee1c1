package backendtest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// TestPlaces is the suite of backends that show commands Spec.Places at absolute paths, and nothing else of
// the workspace.
func TestPlaces(t *testing.T, open func(t *testing.T) (backend.Backend, cache.Store)) {
	b, store := open(t)
	if err := b.Capabilities().Places(t.Context()); err != nil {
		t.Fatal(err)
	}
	tree := putTree(t, store,
		node{Path: "app/main", Content: "main\n"}, node{Path: "app/sub/link", Link: "../main"}, node{Path: "one", Content: "one\n"},
		node{Path: "logs", Dir: true}, node{Path: "aside", Content: "aside\n"}, node{Path: "away", Link: "/"})
	spec := backend.Spec{Name: t.Name(), Inputs: []backend.Input{{Tree: tree}}, Places: []backend.Place{
		{Path: "app", At: "/placed/app"}, {Path: "one", At: "/placed/one.txt"}, {Path: "logs", At: "/logs/verifier"},
	}}
	s := opened(t, b, spec)
	const script = `cat main sub/link /placed/one.txt; pwd; ls "$1" 2>/dev/null; ls /logs/verifier
echo left >/logs/verifier/reward.txt; mkdir /logs/verifier/sub; echo deep >/logs/verifier/sub/x; ln -s /etc/passwd /logs/verifier/link
echo more >>/placed/one.txt; echo new >new; mv /logs/verifier /logs/other 2>/dev/null; true`
	command := shell(script)
	command.Argv = append(command.Argv, "sh", s.Dir())
	command.At = "/placed/app"
	if exit, got := exec(t, s, command); exit.Code != 0 || got != "main\nmain\none\n/placed/app\n" {
		t.Errorf("%+v, %q", exit, got)
	}
	for name, want := range map[string]string{"logs/reward.txt": "left\n", "logs/sub/x": "deep\n", "one": "one\nmore\n", "app/new": "new\n"} {
		if got, err := collect(t, s, name); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := collect(t, s, "logs/link"); !errors.Is(err, backend.ErrNotRegular) {
		t.Errorf("a link: %v", err)
	}
	names, err := s.(backend.Lister).List(t.Context(), "logs", 10)
	if want := []string{"logs/reward.txt", "logs/sub/x"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := s.(backend.Lister).List(t.Context(), "logs", 1); !errors.Is(err, backend.ErrManyFiles) {
		t.Errorf("more files than are wanted: %v", err)
	}
	command = shell("pwd")
	command.At = "/no/such"
	if _, err := s.Exec(t.Context(), command); err == nil {
		t.Error("a directory that is not there is no error")
	}
	// Links out of a tree are never followed.
	for _, path := range []string{"away", "away/etc", "none"} {
		s := opened(t, b, backend.Spec{Name: t.Name(), Inputs: spec.Inputs, Places: []backend.Place{{Path: path, At: "/placed"}}})
		if exit, err := s.Exec(t.Context(), shell("ls /placed")); err == nil {
			t.Errorf("%s: %+v", path, exit)
		}
	}
}

// opened returns a session that the test closes.
func opened(t *testing.T, b backend.Backend, spec backend.Spec) backend.Session {
	t.Helper()
	s, err := b.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return s
}
