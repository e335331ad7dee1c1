package local

import "path/filepath"

// Tools are variables, KEY=value, that lead commands to the caller's programs, uv to
// the caller's cache and interpreters, and rustup to the caller's toolchains: sessions
// have a home directory of their own, where they would find none. lookup reads the
// caller's environment.
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
