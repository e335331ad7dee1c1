//go:build unix

package main

import (
	"archive/zip"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/fevalgraph/fevalgraph/internal/cli"
)

// TestVSCode packs the extension: it has what VS Code reads, and the version of the program.
func TestVSCode(t *testing.T) {
	if os.Getenv(realVariable) == "" {
		t.Skipf("needs node and npm: set %s=1, or use `make test-all`", realVariable)
	}
	out := filepath.Join(t.TempDir(), "fevalgraph.vsix")
	if err := os.WriteFile(out, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	pack := exec.Command("../../scripts/build-vscode", os.Getenv("FEVALGRAPH_TEST_ESBUILD"), out)
	if said, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	packed, err := zip.OpenReader(out)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	read := func(name string) string {
		text, err := fs.ReadFile(packed, "extension/"+name)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	var about struct{ Version, Main string }
	if err := json.Unmarshal([]byte(read("package.json")), &about); err != nil {
		t.Fatal(err)
	}
	if release, _, _ := strings.Cut(cli.Version(), "+"); about.Version != release {
		t.Errorf("the extension is version %s, the program %s", about.Version, release)
	}
	program := read(strings.TrimPrefix(about.Main, "./"))
	var grammar any
	if err := json.Unmarshal([]byte(read("fevalgraph.tmLanguage.json")), &grammar); err != nil {
		t.Error(err)
	}
	if strings.Count(program, `require("vscode")`) == 0 || regexp.MustCompile(`require\("vscode-`).MatchString(program) {
		t.Error("the extension is not bundled")
	}
}

// The configuration for Helix is read, and starts the language server.
func TestHelix(t *testing.T) {
	text, err := os.ReadFile("../../editors/helix/languages.toml")
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Server map[string]struct {
			Command string
			Args    []string
		} `toml:"language-server"`
		Language []struct {
			Name, Grammar string
			Files         []struct{ Glob string } `toml:"file-types"`
			Roots         []string
			Servers       []string `toml:"language-servers"`
		}
	}
	if err := toml.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	for _, language := range read.Language {
		for _, name := range language.Servers {
			if s := read.Server[name]; s.Command != "fevalgraph" || !slices.Equal(s.Args, []string{"lsp"}) {
				t.Errorf("%s starts %s %q", name, s.Command, s.Args)
			}
		}
	}
	if len(read.Language) != 1 || len(read.Language[0].Files) != 2 || !slices.Equal(read.Language[0].Roots, []string{"fevalgraph.hcl"}) {
		t.Fatalf("got %+v", read)
	}
	queries, err := filepath.Glob("../../editors/helix/runtime/queries/" + read.Language[0].Name + "/*.scm")
	if err != nil || len(queries) == 0 {
		t.Error("no grammar for the language", err)
	}
	for _, file := range queries {
		text, err := os.ReadFile(file)
		if want := "; inherits: " + read.Language[0].Grammar + "\n"; err != nil || string(text) != want {
			t.Errorf("%s is %q, %v", file, text, err)
		}
	}
}
