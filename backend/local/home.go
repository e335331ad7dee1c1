//go:build unix

package local

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
)

// managers are directories below the home directory in which managers of versions keep programs,
// and the parts of them that these programs need; "" is all of a directory. Every other directory
// may also have credentials in it, whatever else it is for.
var managers = map[string][]string{
	".asdf": {""}, ".bun": {""}, ".elan": {""}, ".fnm": {""}, ".ghcup": {""}, ".goenv": {""}, ".gvm": {""}, ".jenv": {""},
	".juliaup": {""}, ".nodenv": {""}, ".nvm": {""}, ".opam": {""}, ".phpenv": {""}, ".plenv": {""}, ".proto": {""},
	".pyenv": {""}, ".rbenv": {""}, ".rustup": {""}, ".rvm": {""}, ".sdkman": {""}, ".swiftly": {""}, ".tfenv": {""}, ".volta": {""},
	".cargo":  {"bin", "../.rustup"},                                 // beside it are credentials.toml and config.toml
	".dotnet": {"dotnet", "host", "packs", "sdk", "shared", "tools"}, // and private keys
	".pixi":   {"bin", "envs"},
	".rye":    {"py", "self", "shims", "tools"}, // and credentials
}

// prefixParts are the parts of a directory that programs were installed below, unless it is also
// one of the user's data, as ~/.local is.
var prefixParts = []string{"bin", "include", "lib", "lib64", "libexec", "pyvenv.cfg"}

// inHome returns the path below the home directory.
func (b *Backend) inHome(path string) (below string, ok bool) {
	if b.opt.Home == "" {
		return "", false
	}
	return strings.CutPrefix(path, b.opt.Home+"/")
}

// managed returns what a manager of versions keeps in the home directory if path is in that.
func (b *Backend) managed(path string) []string {
	below, _ := b.inHome(path)
	name, _, deeper := strings.Cut(below, "/")
	if !deeper {
		return nil
	}
	var dirs []string
	for _, part := range managers[name] {
		dirs = append(dirs, filepath.Join(b.opt.Home, name, part))
	}
	return dirs
}

// prefix returns the parts of dir that belong to its programs if some were installed below it:
// all of it, unless it is a hidden one of the home directory, where other things may be as well.
func (b *Backend) prefix(dir string) []string {
	for _, sub := range []string{"bin", "lib"} {
		if info, err := os.Stat(filepath.Join(dir, sub)); err != nil || !info.IsDir() {
			return nil
		}
	}
	if below, ok := b.inHome(dir); !ok || !strings.HasPrefix(below, ".") || strings.Contains(below, "/") {
		return []string{dir}
	}
	var parts []string
	for _, part := range prefixParts {
		parts = append(parts, filepath.Join(dir, part))
	}
	return parts
}

// linked is where programs are shown that a directory of PATH, below the home directory, has
// links to.
func (b *Backend) linked(dir string) (found []isolation.Place) {
	if _, ok := b.inHome(dir); !ok {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // a file, or nothing
	}
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			continue
		}
		if real, err := filepath.EvalSymlinks(filepath.Join(dir, e.Name())); err == nil && filepath.Dir(real) != dir {
			found = append(found, b.tool(real)...)
		}
	}
	return found
}
