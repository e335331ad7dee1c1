//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNeovim uses the language server in a real editor, with the configuration in editors/neovim. testdata/neovim.lua
// drives it.
func TestNeovim(t *testing.T) {
	if os.Getenv(realVariable) == "" {
		t.Skipf("needs Neovim: set %s=1, or use `make test-all`", realVariable)
	}
	for _, use := range []neovimUse{
		{example: "quickstart", reference: "problem.tally", declared: `problem "tally" {`, says: "`problem \"tally\"` at `fevalgraph.hcl`:6"},
		{example: "scbench", reference: "var.image", declared: `variable "image" { default = "" }`, says: "`variable \"image\"` at `fevalgraph.hcl`:6"},
	} {
		t.Run(use.example, use.run)
	}
}

// neovimUse is an example, and a reference in it.
type neovimUse struct {
	example, reference string
	declared           string // the line that declares it
	says               string // the text shown when hovering over it
}

// neovimResults are the results that the editor writes.
type neovimResults struct {
	Error    string   `json:"error"`
	Version  string   `json:"version"`
	Clean    int      `json:"clean"`    // diagnostics of the file as it is
	Mistake  []string `json:"mistake"`  // texts that the errors point to
	Messages []string `json:"messages"` // of these
	Hover    string   `json:"hover"`
	Defined  string   `json:"defined"` // the target line of the definition
	Complete []string `json:"complete"`
	Same     bool     `json:"same"` // whether the buffer is as before the errors
}

func (use neovimUse) run(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", use.example))); err != nil {
		t.Fatal(err)
	}
	got := use.drive(t, dir)
	t.Logf("Neovim %s: %d diagnostics, %d completions", got.Version, got.Clean, len(got.Complete))
	if got.Error != "" {
		t.Fatal(got.Error)
	}
	if diff := cmp.Diff([]string{"var.nope", `pool "p"`, "slost"}, got.Mistake); diff != "" {
		t.Errorf("errors are about: %s\n%q", diff, got.Messages)
	}
	if !got.Same {
		t.Error("the text is another one")
	}
	if !strings.Contains(got.Hover, use.says) || got.Defined != use.declared {
		t.Errorf("hover %q, definition %q", got.Hover, got.Defined)
	}
	if _, name, _ := strings.Cut(use.reference, "."); !slices.Contains(got.Complete, name) {
		t.Errorf("completions %q", got.Complete)
	}
}

// drive runs testdata/neovim.lua in Neovim, in a project.
func (use neovimUse) drive(t *testing.T, dir string) (got neovimResults) {
	program, err := exec.LookPath("fevalgraph")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	home, results := t.TempDir(), filepath.Join(t.TempDir(), "results.json")
	nvim := exec.Command("nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile "+filepath.Join(here, "testdata", "neovim.lua"))
	nvim.Dir = dir
	nvim.Env = append(os.Environ(), "HOME="+home, "FEVALGRAPH_CACHE_DIR="+home, "FEVALGRAPH_VAR_root="+dir,
		"XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home, "XDG_DATA_HOME="+home,
		"SERVER="+program, "CONFIGURATION="+filepath.Join(here, "..", "..", "editors", "neovim", "fevalgraph.lua"), "RESULTS="+results,
		"REFERENCE="+use.reference)
	var said bytes.Buffer
	nvim.Stdout, nvim.Stderr = &said, &said
	if err := nvim.Run(); err != nil {
		t.Fatalf("nvim: %v\n%s", err, said.Bytes())
	}
	written, err := os.ReadFile(results)
	if err == nil {
		err = json.Unmarshal(written, &got)
	}
	if err != nil {
		t.Fatalf("%v\n%s%s", err, said.Bytes(), written)
	}
	return got
}
