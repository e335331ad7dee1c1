package eval

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// stateName is the usual name of a state directory.
const stateName = ".fevalgraph"

// MakeStateDir makes the project's state directory, if there is none.
func (o Options) MakeStateDir() error { return makeState(o.StateDir()) }

// makeState makes a state directory, with a file that keeps it out of repositories: none
// of it means anything elsewhere. A directory of another name that was there before may
// hold what is not ours, and stays as it is.
func makeState(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) && filepath.Base(dir) != stateName {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return writeNew(filepath.Join(dir, ".gitignore"), "*\n")
}

// writeNew writes a file, unless there is one.
func writeNew(path, text string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = file.WriteString(text)
		err = errors.Join(err, file.Close())
	}
	return err
}
