package local

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// Tools returns variables, KEY=value, that point commands to the caller's programs, uv to the caller's
// cache and interpreters, and rustup to the caller's toolchains, which they would not find in a session's
// separate home directory. lookup reads the caller's environment.
func Tools(lookup func(string) (string, bool)) []string {
	var tools []string
	if path, ok := lookup("PATH"); ok {
		tools = append(tools, "PATH="+path)
	}
	home, ok := lookup("HOME")
	if !ok || home == "" {
		return tools
	}
	under := func(variable string, fallback ...string) string {
		if dir, ok := lookup(variable); ok && filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(append([]string{home}, fallback...)...)
	}
	return append(tools,
		"UV_CACHE_DIR="+filepath.Join(under("XDG_CACHE_HOME", ".cache"), "uv"),
		"UV_PYTHON_INSTALL_DIR="+filepath.Join(under("XDG_DATA_HOME", ".local", "share"), "uv", "python"),
		"RUSTUP_HOME="+under("RUSTUP_HOME", ".rustup"),
	)
}

// leads lists the variables that determine where uv, and the interpreter that it finds, look for programs.
var leads = lazyregexp.New(`^(PATH|HOME|TMPDIR|LANG|LC_.*|LD_.*|DYLD_.*|UV_.*|XDG_.*|CONDA_.*|PYENV_.*|VIRTUAL_ENV|SSL_.*|(?i:[a-z]+_proxy))$`)

// Leads reports whether a variable affects finding an interpreter: only such variables are in the
// environment of the search.
func Leads(variable string) bool { return leads().MatchString(variable) }

// leading returns the variables of env, KEY=value, for which Leads is true.
func leading(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return !Leads(name)
	})
}
