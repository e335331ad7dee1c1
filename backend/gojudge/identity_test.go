//go:build unix

package gojudge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend/gojudge"
	"github.com/fevalgraph/fevalgraph/cache"
)

// wrap writes a program that runs go-judge after the commands in before.
func wrap(t *testing.T, before string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "go-judge")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+before+"\nexec "+binary(t)+" \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// The identity of an own server is remembered until its program or files change; a remembered one starts no server.
func TestIdentityRemembered(t *testing.T) {
	facts, started := filepath.Join(t.TempDir(), "facts"), filepath.Join(t.TempDir(), "started")
	program := wrap(t, "echo >> "+started)
	store := cache.NewMemory()
	ask := func(o gojudge.Options, starts int) string {
		t.Helper()
		server := gojudge.Start(store, gojudge.Process{Binary: program, Scratch: t.TempDir()})
		defer server.Close()
		os.Remove(started)
		identity, err := gojudge.New(server, o).Identity(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(started)
		if len(text) != starts {
			t.Errorf("%+v: %d servers were started, want %d", o, len(text), starts)
		}
		var said []string
		for _, f := range identity {
			said = append(said, f.Label+"="+f.Value)
		}
		return strings.Join(said, "\n")
	}
	o := gojudge.Options{Versions: []string{"/bin/echo one"}, Facts: facts, FactsReadOnly: true}
	first := ask(o, 1)
	if !strings.Contains(first, "go-judge=v") {
		t.Errorf("got %s", first)
	}
	ask(o, 1) // it was not to be written
	o.FactsReadOnly = false
	ask(o, 1)
	if again := ask(o, 0); again != first {
		t.Errorf("remembered %s, not %s", again, first)
	}
	o.Versions = []string{"/bin/echo two"}
	if other := ask(o, 1); !strings.HasSuffix(other, "=two") {
		t.Errorf("another command: %s", other)
	}
	ask(o, 0)
	// Programs that a shell finds cannot be identified from outside.
	o.Versions = []string{"echo $((1 + 2))"}
	ask(o, 1)
	ask(o, 1)
	// Another go-judge at the same address.
	o.Versions = []string{"/bin/echo two"}
	program = wrap(t, "echo >> "+started+"\n# changed")
	ask(o, 1)
}

// A port that another process took in between causes no trouble.
func TestPortTaken(t *testing.T) {
	tried, store := filepath.Join(t.TempDir(), "tried"), newStore(t)
	program := wrap(t, `[ -e `+tried+` ] || { echo > `+tried+`; echo '{"level":"error","msg":"Http server listen failed","error":"listen tcp: bind: address already in use"}' >&2; exit 0; }`)
	server := gojudge.Start(store, gojudge.Process{Binary: program, Scratch: t.TempDir()})
	defer server.Close()
	if got := runProgram(t, gojudge.New(server, gojudge.Options{}), store, shellProgram("echo fine")); got != "fine\n" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(tried); err != nil {
		t.Error(err)
	}
}
