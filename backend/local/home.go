//go:build unix

package local

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
)

// managers maps directories of version managers in the home directory to the parts that their programs
// need; "" means the whole directory. Other parts can contain credentials.
var managers = map[string][]string{
	".asdf": {""}, ".bun": {""}, ".elan": {""}, ".fnm": {""}, ".ghcup": {""}, ".goenv": {""}, ".gvm": {""}, ".jenv": {""},
	".juliaup": {""}, ".nodenv": {""}, ".nvm": {""}, ".opam": {""}, ".phpenv": {""}, ".plenv": {""}, ".proto": {""},
	".pyenv": {""}, ".rbenv": {""}, ".rustup": {""}, ".rvm": {""}, ".sdkman": {""}, ".swiftly": {""}, ".tfenv": {""}, ".volta": {""},
	".cargo":  {"bin", "../.rustup"},                                 // next to credentials.toml and config.toml
	".dotnet": {"dotnet", "host", "packs", "sdk", "shared", "tools"}, // and private keys
	".pixi":   {"bin", "envs"},
	".rye":    {"py", "self", "shims", "tools"}, // as above, next to credentials
}

// prefixParts lists the subdirectories that programs need if they are installed below a hidden directory
// of the home directory. The rest can be the user's data, as in ~/.local.
var prefixParts = []string{"bin", "include", "lib", "lib64", "libexec", "pyvenv.cfg"}

// inHome returns a path relative to the home directory.
func (b *Backend) inHome(path string) (below string, ok bool) {
	if b.opt.Home == "" {
		return "", false
	}
	return strings.CutPrefix(path, b.opt.Home+"/")
}

// managed returns the directories of the version manager that path belongs to.
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

// prefix returns the parts of dir that installed programs need: all of dir or, for a hidden directory of
// the home directory, prefixParts.
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

// linked returns the locations of programs that links in a directory below the home directory lead to.
func (b *Backend) linked(dir string) (found []isolation.Place) {
	if _, ok := b.inHome(dir); !ok {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // not a directory
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
