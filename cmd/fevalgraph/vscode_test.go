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
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/cli"
)

// TestVSCode packs the extension: it has what VS Code reads, the version of the program, and
// the commands that lenses offer.
func TestVSCode(t *testing.T) {
	if os.Getenv(realVariable) == "" {
		t.Skipf("needs node and npm: set %s=1, or use `make real`", realVariable)
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
	for _, command := range []string{"fevalgraph.run", "fevalgraph.explain"} {
		if !strings.Contains(program, command) {
			t.Errorf("the extension does not know %s", command)
		}
	}
	var grammar any
	if err := json.Unmarshal([]byte(read("fevalgraph.tmLanguage.json")), &grammar); err != nil {
		t.Error(err)
	}
	if strings.Count(program, `require("vscode")`) == 0 || regexp.MustCompile(`require\("vscode-`).MatchString(program) {
		t.Error("the extension is not bundled")
	}
}
