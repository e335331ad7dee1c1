//go:build unix

package local_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache"
)

// script writes an executable shell script.
func script(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestIdentity(t *testing.T) {
	dir := t.TempDir()
	python := script(t, filepath.Join(dir, "python3.11"), `[ "$1" = -I ] && echo "CPython 3.11.7"`)
	script(t, filepath.Join(dir, "uv"), `echo "$PWD $* $UV_MARK$MARK" >> `+dir+`/asked; echo `+python)
	b := local.New(cache.NewMemory(), local.Options{
		Probes:      local.Probes{Python: "3.11", Path: dir + ":" + backendtest.Path, Env: []string{"UV_MARK=env", "MARK=kept from it"}},
		Confinement: local.Confinement{Isolation: "none"},
	})
	for range 2 {
		got, err := b.Identity(t.Context())
		want := backend.Identity{{Label: "platform", Value: runtime.GOOS + "/" + runtime.GOARCH}, {Label: "python", Value: "CPython 3.11.7"}}
		if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
			t.Errorf("got %v, %v; want %v", got, err, want)
		}
	}
	if path, _, err := b.Interpreter(t.Context()); err != nil || path != python {
		t.Errorf("interpreter is %q, %v", path, err)
	}
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	if want := "/ python find --no-project 3.11 env\n"; err != nil || string(asked) != want {
		t.Errorf("uv was called with %q, %v; want %q once", asked, err, want)
	}
}

func TestIdentityHasVersions(t *testing.T) {
	dir := t.TempDir()
	python := script(t, filepath.Join(dir, "python3.11"), `echo "CPython 3.11.7"`)
	script(t, filepath.Join(dir, "uv"), `echo `+python)
	script(t, filepath.Join(dir, "node"), `echo v20.1.0 $HOME $MARK`)
	b := local.New(cache.NewMemory(), local.Options{
		Probes:      local.Probes{Path: dir + ":" + backendtest.Path, Env: []string{"MARK=env"}, Versions: []string{"node --version", "absent --version", "node --version", "echo no; exit 3"}},
		Confinement: local.Confinement{Isolation: "none"},
	})
	got, err := b.Identity(t.Context())
	if err != nil || len(got) != 5 {
		t.Fatalf("got %v, %v", got, err)
	}
	if want := (backend.Field{Label: "output of node --version", Value: "v20.1.0 env"}); got[2] != want {
		t.Errorf("got %v, want %v", got[2], want)
	}
	if !strings.Contains(got[3].Value, "not found") || !strings.Contains(got[3].Value, "exit status 127") {
		t.Errorf("a missing tool is %q", got[3].Value)
	}
	if want := "no (exit status 3)"; got[4].Value != want {
		t.Errorf("a failing command is %q, want %q", got[4].Value, want)
	}
}

func TestInterpreterOfTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	python := script(t, filepath.Join(dir, "python3.12"), `echo "CPython 3.12.1"`)
	script(t, filepath.Join(dir, "uv"), `[ "$4" = 3.12 ] && echo `+python)
	b := local.New(cache.NewMemory(), local.Options{Probes: local.Probes{Path: dir + ":" + backendtest.Path, Env: []string{"UV_PYTHON=3.12"}}})
	if path, _, err := b.Interpreter(t.Context()); err != nil || path != python {
		t.Errorf("the interpreter is %q, %v", path, err)
	}
}

func TestIdentityFails(t *testing.T) {
	for _, test := range []struct {
		name, uv   string
		tool, said string
	}{
		{"no uv", "", "uv", "not found"},
		{"no interpreter", "echo 'No interpreter found for Python 3.99' >&2; exit 2", "python 3.99", "No interpreter found"},
		{"silent uv", "exit 0", "python 3.99", "printed nothing"},
		{"broken interpreter", "echo /absent/python", "/absent/python", "no such file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if test.uv != "" {
				script(t, filepath.Join(dir, "uv"), test.uv)
			}
			b := local.New(cache.NewMemory(), local.Options{Probes: local.Probes{Python: "3.99", Path: dir}})
			_, err := b.Identity(t.Context())
			var tool *backend.ToolError
			if !errors.As(err, &tool) || tool.Tool != test.tool || !strings.Contains(err.Error(), test.said) {
				t.Errorf("got %v, want a *ToolError of %q with message %q", err, test.tool, test.said)
			}
			if test.tool == "uv" && !strings.Contains(tool.Hint, "pip install uv") {
				t.Errorf("the hint is %q", tool.Hint)
			}
		})
	}
}

// A cancelled probe is not the tool's fault, and is not remembered.
func TestIdentityCancelled(t *testing.T) {
	dir := t.TempDir()
	python := script(t, filepath.Join(dir, "python"), "echo PyPy 7")
	script(t, filepath.Join(dir, "uv"), "echo "+python)
	b := local.New(cache.NewMemory(), local.Options{Probes: local.Probes{Path: dir}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Identity(ctx); !errors.Is(err, context.Canceled) || errors.As(err, new(*backend.ToolError)) {
		t.Errorf("got %v", err)
	}
	if _, err := b.Identity(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
