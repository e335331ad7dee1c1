package backendtest

import (
	"context"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// TestReadOnly is the suite of backends that keep commands from changing Spec.ReadOnly, whatever an Online
// command, or the submission, left there.
func TestReadOnly(t *testing.T, open func(t *testing.T) (backend.Backend, cache.Store)) {
	for _, test := range []struct{ name, before string }{
		{"nothing before", ""},
		{"a command before", "cat tests/own && cat ini"},
		{"places taken", "rm -rf tests ini absent/tests; ln -s /etc tests; mkdir ini absent; ln -s / absent/tests; chmod 0 ini; true"},
	} {
		t.Run(test.name, func(t *testing.T) { testReadOnly(t, open, test.before) })
	}
}

func testReadOnly(t *testing.T, open Opener, before string) {
	b, store := open(t)
	s, err := b.Open(t.Context(), backend.Spec{
		Name: t.Name(), ReadOnly: []string{"tests", "ini", "absent/tests", "link"},
		Inputs: []backend.Input{{Tree: putTree(t, store, node{Path: "tests/own", Content: "own"}, node{Path: "ini", Content: "own"}, node{Path: "link", Link: "/"})}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	if before != "" {
		command := shell(before)
		command.Online = true
		if exit, out := exec(t, s, command); exit.Code != 0 {
			t.Errorf("before: %+v, %s", exit, out)
		}
	}
	const attempts = `for do in 'echo x >tests/test' 'echo x >tests/new' 'rm -rf tests' 'mv tests other' 'mv tests/assets tests/other' 'chmod -R 777 tests' 'rm -f ini' 'mv ini other' 'ln -sf /dev/null ini' 'echo x >ini' 'echo x >absent/tests/test' 'mv absent/tests other' 'mv absent other' 'mv ../${PWD##*/} ../other'; do
		! sh -c "$do" 2>/dev/null || echo "$do"
	done; echo x >other-file; cat tests/test tests/assets/file ini absent/tests/test; [ -e tests/own ] && echo own; ls link`
	for _, content := range []string{"honest\n", "another\n"} {
		err := s.Place(t.Context(),
			backend.Input{Path: "tests", Tree: putTree(t, store, node{Path: "test", Content: content}), Replace: true},
			backend.Input{Path: "tests/assets", Tree: putTree(t, store, node{Path: "file", Content: content})},
			backend.Input{Path: "ini", Content: []byte(content), Replace: true},
			backend.Input{Path: "absent/tests", Tree: putTree(t, store, node{Path: "test", Content: content}), Replace: true},
			backend.Input{Path: "link", Tree: putTree(t, store, node{Path: "listed", Content: content}), Replace: true},
		)
		if err != nil {
			t.Fatal(err)
		}
		want := content + content + content + content + "listed\n"
		if exit, got := exec(t, s, shell(attempts)); exit.Code != 0 || got != want {
			t.Errorf("got %+v and %q, want %q", exit, got, want)
		}
		for _, name := range []string{"tests/test", "tests/assets/file", "ini"} {
			if got, err := collect(t, s, name); err != nil || got != content {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
		}
	}
	if got, err := collect(t, s, "other-file"); err != nil || got != "x\n" {
		t.Errorf("what may be written: %q, %v", got, err)
	}
}
