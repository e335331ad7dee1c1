package local

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// unknownTarget replaces the program of a shim in identities if that program is unknown.
const unknownTarget = "unknown"

// managerCall matches the line in a shim that calls its version manager to start a program.
var managerCall = lazyregexp.New(`(?m)^\s*exec\s+"?(?:[^"\s]*/)?([a-z][a-z0-9_-]*)"?\s+exec\s`)

// shimTarget returns the program that a shim of a version manager starts. If the layout is unknown and the
// target is an interpreter, the shim is queried for its path. Only programs in PATH are queried, since the
// user chose them. "" means unknown.
func (b *Backend) shimTarget(ctx context.Context, word, program string) (target string, found bool) {
	if target, found = b.layoutTarget(word, program); found && target == "" && answers(word, program) {
		target = b.askedTarget(ctx, program)
	}
	return target, found
}

// answers reports whether a word starts a script that can be queried as an interpreter.
func answers(word, program string) bool {
	return isPython(word) && !strings.Contains(word, "/") && scriptText(program) != ""
}

// layoutTarget resolves the shims of pyenv and its relatives, asdf and rustup from their files,
// without starting a process.
func (b *Backend) layoutTarget(word, program string) (target string, found bool) {
	if strings.Contains(word, "/") {
		if real, err := filepath.EvalSymlinks(program); err != nil || !isShim(real) && !isShim(program) {
			return "", false
		}
	}
	if toolchain, ok := b.rustTarget(program); ok {
		return toolchain, true
	}
	text := scriptText(program)
	call := managerCall().FindStringSubmatch(text)
	switch {
	case call != nil && call[1] == "asdf":
		target = b.asdfTarget(text, program)
	case call != nil && strings.HasSuffix(call[1], "env"):
		target = b.envTarget(call[1], program)
	case call == nil && (text == "" || !isPython(program)) && !isShim(program):
		return "", false
	}
	return target, true
}

// isShim reports whether a program is a shim, judging by its location or the target of its link.
func isShim(program string) bool {
	real, _ := filepath.EvalSymlinks(program)
	return filepath.Base(filepath.Dir(program)) == "shims" || slices.Contains([]string{"mise", "volta-shim"}, filepath.Base(real))
}

// scriptText returns the beginning of a script, or "" for other programs.
func scriptText(program string) string {
	f, err := os.Open(program)
	if err != nil {
		return ""
	}
	defer f.Close()
	r := bufio.NewReader(io.LimitReader(f, 16<<10))
	if start, err := r.Peek(2); err != nil || string(start) != "#!" {
		return ""
	}
	text, _ := io.ReadAll(r)
	return string(text)
}

// runnable returns path if it is an executable file, and otherwise "".
func runnable(path string) string {
	if found, err := lookPath(path, "", "/"); err == nil {
		return found
	}
	return ""
}

// envTarget resolves a shim of pyenv, rbenv, nodenv or the like: ROOT/shims/NAME starts
// ROOT/versions/VERSION/bin/NAME of the first version that has it. Directories of sessions contain no
// version file.
func (b *Backend) envTarget(manager, program string) string {
	name, root := filepath.Base(program), filepath.Dir(filepath.Dir(program))
	chosen, set := getenv(b.opt.Env, strings.ToUpper(manager)+"_VERSION")
	if !set || chosen == "" {
		content, _ := os.ReadFile(filepath.Join(root, "version"))
		chosen = string(content)
	}
	versions := strings.FieldsFunc(chosen, func(r rune) bool { return strings.ContainsRune(": \t\r\n", r) })
	if len(versions) == 0 {
		versions = []string{"system"}
	}
	for _, version := range versions {
		found := ""
		if version == "system" {
			found = b.nextInPath(name, filepath.Dir(program))
		} else if filepath.IsLocal(version) {
			found = runnable(filepath.Join(root, "versions", version, "bin", name))
		}
		if found != "" {
			return found
		}
	}
	return ""
}

// nextInPath finds a program in the directories of PATH, except one.
func (b *Backend) nextInPath(name, without string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(b.opt.Path), func(dir string) bool { return filepath.Clean(dir) == without })
	found, _ := lookPath(name, strings.Join(dirs, string(filepath.ListSeparator)), "/")
	return found
}

// asdfTarget resolves a shim of asdf, which lists the versions that have the program. The environment or
// .tool-versions in the home directory selects one.
func (b *Backend) asdfTarget(text, program string) string {
	home, _ := getenv(b.opt.Env, "HOME")
	tools, _ := os.ReadFile(filepath.Join(home, ".tool-versions"))
	for line := range strings.Lines(text) {
		plugin, version, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "# asdf-plugin: ")), " ")
		if !ok || !strings.HasPrefix(line, "# asdf-plugin: ") || !filepath.IsLocal(plugin) || !filepath.IsLocal(version) {
			continue
		}
		chosen, _ := getenv(b.opt.Env, "ASDF_"+strings.ToUpper(strings.ReplaceAll(plugin, "-", "_"))+"_VERSION")
		for tool := range strings.Lines(string(tools)) {
			if fields := strings.Fields(tool); chosen == "" && home != "" && len(fields) > 1 && fields[0] == plugin {
				chosen = fields[1]
			}
		}
		if chosen == version {
			return runnable(filepath.Join(filepath.Dir(filepath.Dir(program)), "installs", plugin, version, "bin", filepath.Base(program)))
		}
	}
	return ""
}

// defaultToolchain matches the line of rustup's settings that names the default toolchain.
var defaultToolchain = lazyregexp.New(`(?m)^default_toolchain\s*=\s*"([^"]+)"`)

// rustTarget resolves a program that is a link to rustup.
func (b *Backend) rustTarget(program string) (target string, found bool) {
	name := filepath.Base(program)
	rustup, err := os.Stat(filepath.Join(filepath.Dir(program), "rustup"))
	if err != nil || name == "rustup" {
		return "", false
	}
	if info, err := os.Stat(program); err != nil || !os.SameFile(info, rustup) {
		return "", false
	}
	home, _ := getenv(b.opt.Env, "RUSTUP_HOME")
	chosen, _ := getenv(b.opt.Env, "RUSTUP_TOOLCHAIN")
	if chosen == "" {
		settings, _ := os.ReadFile(filepath.Join(home, "settings.toml"))
		if m := defaultToolchain().FindSubmatch(settings); m != nil {
			chosen = string(m[1])
		}
	}
	if home == "" || !filepath.IsLocal(chosen) {
		return "", true
	}
	if target = runnable(filepath.Join(home, "toolchains", chosen, "bin", name)); target != "" {
		return target, true
	}
	full, _ := filepath.Glob(filepath.Join(home, "toolchains", chosen+"-*", "bin", name)) // "stable" without the platform
	if len(full) == 1 {
		return full[0], true
	}
	return "", true
}
