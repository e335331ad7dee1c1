package main

import (
	"os"
	"os/exec"
	"path/filepath"
)

// findToolsBeside adds the program's directory to the end of PATH if it belongs to a Python environment with
// uv, and PATH has no uv: a wheel depends on uv, but installers of tools (uv, pipx) link only the program
// itself to a directory in PATH.
func findToolsBeside() {
	if _, err := exec.LookPath("uv"); err == nil {
		return
	}
	program, err := os.Executable()
	if err != nil {
		return
	}
	if program, err = filepath.EvalSymlinks(program); err != nil {
		return
	}
	dir := filepath.Dir(program)
	if _, err := os.Stat(filepath.Join(dir, "..", "pyvenv.cfg")); err != nil {
		return
	}
	if _, err := exec.LookPath(filepath.Join(dir, "uv")); err != nil {
		return
	}
	os.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+dir)
}
