//go:build unix

package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
)

// installation is a directory of programs and packages.
type installation struct {
	t   *testing.T
	dir string
}

func (i installation) path(name string) string { return filepath.Join(i.dir, name) }

// write writes a file, which is a program if its name marks it as one.
func (i installation) write(name, content string) {
	i.t.Helper()
	mode := os.FileMode(0o644)
	if dir := filepath.Base(filepath.Dir(name)); dir == "bin" || dir == "shims" {
		mode = 0o755
	}
	err := os.MkdirAll(filepath.Dir(i.path(name)), 0o755)
	if err == nil {
		err = os.WriteFile(i.path(name), []byte(content), mode)
	}
	if err != nil {
		i.t.Fatal(err)
	}
}

// identity returns the part of keys that a word contributes.
func (i installation) identity(word string, env ...string) string {
	i.t.Helper()
	path := []string{"shims", "bin", "conda/bin", "venv/bin"}
	for at := range path {
		path[at] = i.path(path[at])
	}
	b := New(nil, Options{Probes: Probes{Path: strings.Join(path, ":") + ":/usr/bin:/bin", Env: env}})
	found, err := b.programs(i.t.Context(), []string{word})
	if err != nil {
		i.t.Fatal(err)
	}
	return describe(found)
}

func describe(fields backend.Identity) string {
	var all []string
	for _, f := range fields {
		all = append(all, f.Label+"="+f.Value)
	}
	return strings.Join(all, "\n")
}

// A shim counts by the program that it starts.
func TestShims(t *testing.T) {
	i := installation{t, t.TempDir()}
	i.write("shims/python3", "#!/bin/sh\nexport PYENV_ROOT="+i.dir+"\nexec \""+i.dir+"/libexec/pyenv\" exec \"$program\" \"$@\"\n")
	i.write("versions/3.10.1/bin/python3", "ten")
	i.write("versions/3.11.2/bin/python3", "eleven")
	i.write("versions/3.11.2/lib/python3.11/site-packages/numpy-2.0.dist-info/RECORD", "1")
	i.write("bin/python3", "the system's")
	i.write("shims/node", "#!/bin/sh\n# asdf-plugin: nodejs 20.1\n# asdf-plugin: nodejs 22.0\nexec asdf exec \"node\" \"$@\"\n")
	i.write("installs/nodejs/20.1/bin/node", "twenty")
	i.write("installs/nodejs/22.0/bin/node", "twenty-two")
	i.write("home/.tool-versions", "nodejs 20.1\n")
	i.write("bin/rustup", "rustup")
	if err := os.Link(i.path("bin/rustup"), i.path("bin/cargo")); err != nil {
		t.Fatal(err)
	}
	i.write("rust/settings.toml", "default_toolchain = \"stable\"\n")
	i.write("rust/toolchains/stable-x86_64/bin/cargo", "stable")
	i.write("rust/toolchains/nightly-x86_64/bin/cargo", "nightly")
	i.write("bin/pypy3", "#!/bin/sh\necho "+i.path("bin/other")+"\n") // prints its path
	i.write("bin/other", "other")

	home, rust := "HOME="+i.path("home"), "RUSTUP_HOME="+i.path("rust")
	seen := map[string]string{}
	distinct := func(name, word string, env ...string) {
		t.Helper()
		got := i.identity(word, env...)
		if !strings.Contains(got, "program "+word+" starts=") || strings.Contains(got, "="+unknownTarget) {
			t.Errorf("%s: %s", name, got)
		}
		if other, known := seen[got]; known {
			t.Errorf("%s is as %s: %s", name, other, got)
		}
		seen[got] = name
	}
	distinct("system", "python3")
	i.write("version", "3.10.1\n")
	distinct("3.10", "python3")
	i.write("version", "3.11.2\n3.10.1\n")
	distinct("3.11", "python3")
	i.write("versions/3.11.2/lib/python3.11/site-packages/numpy-2.0.dist-info/RECORD", "2")
	distinct("3.11 with another numpy", "python3")
	if got, want := i.identity("python3", "PYENV_VERSION=3.10.1"), "3.10"; seen[got] != want {
		t.Errorf("PYENV_VERSION: %s", got)
	}
	distinct("asdf 20", "node", home)
	distinct("asdf 22", "node", home, "ASDF_NODEJS_VERSION=22.0")
	distinct("stable", "cargo", rust)
	distinct("nightly", "cargo", rust, "RUSTUP_TOOLCHAIN=nightly")
	distinct("asked", "pypy3")
	i.write("bin/other", "another")
	distinct("second query", "pypy3")

	// An unknown part of the identity is marked in it, and reported.
	i.write("version", "3.9\n")
	i.write("shims/tool", "#!/bin/sh\nexec manager exec tool\n")
	for _, word := range []string{"python3", "node", "cargo", "tool"} {
		if got := i.identity(word); !strings.Contains(got, "program "+word+" starts=unknown") {
			t.Errorf("%s: %s", word, got)
		}
	}
	b := New(nil, Options{Probes: Probes{Path: i.path("shims") + ":" + i.path("bin")}})
	if got := b.Unidentified([]string{"tool", "rustup", "absent"}); len(got) != 1 || got[0] != i.path("shims/tool") {
		t.Errorf("unidentified: %q", got)
	}
}

// Packages count however they were installed, including editable ones with their imported files.
func TestPackages(t *testing.T) {
	i := installation{t, t.TempDir()}
	i.write("conda/bin/python3.11", "interpreter")
	i.write("conda/bin/tool", "program")
	if err := os.Symlink("python3.11", i.path("conda/bin/python3")); err != nil {
		t.Fatal(err)
	}
	const site = "conda/lib/python3.11/site-packages/"
	last := map[string]string{}
	changed := func(name string) {
		t.Helper()
		for _, word := range []string{i.path("conda/bin/python3"), "tool"} {
			got := i.identity(word)
			if got == last[word] {
				t.Errorf("%s: the same: %s", name, got)
			}
			last[word] = got
		}
	}
	changed("none")
	i.write(site+"numpy-2.0.dist-info/RECORD", "a")
	changed("added")
	i.write(site+"numpy-2.0.dist-info/RECORD", "b")
	changed("installed again")
	i.write(site+"old-1.0.egg-info", "Version: 1")
	changed("egg-info, a file")
	i.write(site+"older-1.0-py3.11.egg-info/PKG-INFO", "Version: 1")
	changed("egg-info, a directory")
	i.write("conda/conda-meta/mkl-2024.0-h1_0.json", "{}")
	changed("conda")
	i.write("src/mine/mod.py", "x = 1")
	i.write(site+"mine-0.dist-info/direct_url.json", `{"url": "file://`+i.path("src/mine")+`", "dir_info": {"editable": true}}`)
	changed("editable")
	i.write("src/mine/mod.py", "x = 2")
	changed("source of an editable one")
	i.write("src/legacy/mod.py", "x = 1")
	i.write(site+"legacy.egg-link", i.path("src/legacy")+"\n.")
	changed("egg-link")
	i.write("src/legacy/more.py", "x = 1")
	changed("source of a link")
	if got := i.identity("tool"); !strings.Contains(got, "conda:mkl-2024.0-h1_0") || !strings.Contains(got, "numpy-2.0@") {
		t.Errorf("the identity names no packages: %s", got)
	}
	for _, generated := range []string{"src/mine/__pycache__/mod.pyc", "src/mine/.git/index", "conda/lib/python3.12/site-packages/x-1.dist-info/RECORD"} {
		i.write(generated, "")
	}
	if got := i.identity(i.path("conda/bin/python3")); got != last[i.path("conda/bin/python3")] {
		t.Errorf("what is not imported counts: %s", got)
	}
	for n := range shownPackages {
		i.write(site+strings.Repeat("x", n+1)+"-1.dist-info/RECORD", "")
	}
	if got := i.identity("tool"); strings.Contains(got, "numpy") {
		t.Errorf("many packages: %s", got)
	}
}
