package main

import (
	"os"
	"os/exec"
	"path/filepath"
)

// findToolsBeside adds the program's directory to the end of PATH if uv is there and
// nowhere else: a wheel brings uv, but those who install it as a tool (uv, pipx) link
// only the program itself to a directory in PATH.
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
	if _, err := exec.LookPath(filepath.Join(dir, "uv")); err != nil {
		return
	}
	os.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+dir)
}
