package options

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// StateName is the usual name of a state directory.
const StateName = ".fevalgraph"

// AnswersDir is where gen keeps answers, and the records of its calls, in a state directory: in a
// store of their own, as they have cost money, and what frees the shared store of results that can
// be computed again must not remove them.
func AnswersDir(state string) string { return filepath.Join(state, "answers") }

// BuildLog is where the build log is in a state directory, or in that of AnswersDir.
func BuildLog(dir string) string { return filepath.Join(dir, "buildlog") }

// MakeStateDir makes the project's state directory, if there is none.
func (o Options) MakeStateDir() error { return MakeState(o.StateDir()) }

// MakeState makes a state directory, with a file that keeps it out of repositories: none
// of it means anything elsewhere. A directory of another name that was there before may
// hold what is not ours, and stays as it is.
func MakeState(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) && filepath.Base(dir) != StateName {
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

// IsDenied reports whether a file could not be written for its place.
func IsDenied(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// HintStateDir adds the way out to an error about the state directory.
func HintStateDir(err error) error {
	if !IsDenied(err) {
		return err
	}
	return fmt.Errorf("%w; set FEVALGRAPH_DIR to a directory that can be written", err)
}
