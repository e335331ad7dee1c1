package kind

import (
	"debug/buildinfo"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/fevalgraph/fevalgraph/backend"
)

// WorkerName is the name of the small program that runs on other machines and in containers. It is for Linux,
// and installed next to fevalgraph on every system.
const WorkerName = "fevalgraph-worker"

// WorkerProgram returns the file of the program to run there: the file that the configuration names, or else
// SmallProgram, or else this program, which can do the same. what names the users of the program, in the plural,
// for errors.
func WorkerProgram(named, what string) (string, error) {
	if named != "" {
		return named, nil
	}
	if small := SmallProgram(); small != "" {
		return small, nil
	}
	if runtime.GOOS != "linux" {
		return "", &backend.SettingError{Setting: "program", Err: errors.New(what + " cannot run the program of this system"), Hint: "set it to a fevalgraph of this version for Linux"}
	}
	return self()
}

// SmallProgram returns the file of the small program if it was built with this one, and "" otherwise.
func SmallProgram() string {
	own, err := self()
	if err != nil {
		return ""
	}
	if small := filepath.Join(filepath.Dir(own), WorkerName); builtWithThis(small) {
		return small
	}
	return ""
}

// self returns the file of this program, without symbolic links if it can.
func self() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path, nil
}

// builtWithThis reports whether a program was built from the same commit, module version and Go version as this
// one, so that a file of an earlier build is not used.
func builtWithThis(program string) bool {
	own, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	other, err := buildinfo.ReadFile(program)
	return err == nil && origin(other) == origin(own)
}

// origin identifies what a program was built from.
func origin(b *debug.BuildInfo) string {
	text := b.GoVersion + " " + b.Main.Path + " " + b.Main.Version
	for _, s := range b.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			text += " " + s.Value
		}
	}
	return text
}
