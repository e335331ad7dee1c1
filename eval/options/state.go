package options

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/fevalgraph/fevalgraph/eval/exit"
)

// StateName is the usual name of a state directory.
const StateName = ".fevalgraph"

// AnswersDir returns the directory of answers, and of the records of gen's calls, in a state directory. Answers
// cost money, so they have a separate store: cleaning the shared store of results, which can be computed again,
// must not remove them.
func AnswersDir(state string) string { return filepath.Join(state, "answers") }

// CheckState returns an error if the state directory in a project is a link, or contains anything but files
// and directories: fevalgraph creates nothing else there, and a project from elsewhere could have files
// outside of it read, written or removed, or make a command wait for ever. A directory that FEVALGRAPH_DIR
// names by an absolute path is the user's choice.
func (o Options) CheckState() error {
	if dir, _ := o.Getenv("FEVALGRAPH_DIR"); filepath.IsAbs(dir) {
		return nil
	}
	dir := o.StateDir()
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("the state directory %s is not a directory but %s: remove it, or set FEVALGRAPH_DIR to an absolute path", dir, typeName(info.Mode()))
	}
	if err == nil {
		err = checkState(dir)
	}
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	return nil
}

// unchecked lists directories in a state directory whose entries are checked, but not the levels
// below: there are too many blobs and runs, and uv makes links. Package event
// checks the files of runs that it opens.
var unchecked = []string{"cas", "locking", "runs"}

// named lists directories with so many files that listing them would be felt in each call. The files
// with these names are checked, the others when package partition opens them.
var named = map[string][]string{"partitions": {"index", "configuration"}}

func checkState(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return nil // reported where it is needed
	}
	entries, _ := f.ReadDir(-1) // unsorted; other processes can remove some meanwhile
	f.Close()
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir() && named[e.Name()] != nil:
			for _, name := range named[e.Name()] {
				below := filepath.Join(path, name)
				if info, err := os.Lstat(below); err == nil && !info.Mode().IsRegular() {
					return fmt.Errorf("%s is %s, which fevalgraph did not create: remove it", below, typeName(info.Mode()))
				}
			}
		case e.IsDir():
			if !slices.Contains(unchecked, filepath.Base(dir)) {
				if err := checkState(path); err != nil {
					return err
				}
			}
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is %s, which fevalgraph did not create: remove it", path, typeName(e.Type()))
		}
	}
	return nil
}

func typeName(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode.IsRegular():
		return "a file"
	}
	return "a device, pipe or socket"
}

// CheckOwner returns an error if the state directory belongs to another user, who could change the files
// that a command writes or removes there.
func CheckOwner(dir string) error {
	if info, err := os.Stat(dir); err == nil && !ownFile(info) {
		return fmt.Errorf("%s belongs to another user: have its owner run the command, or set FEVALGRAPH_DIR to a directory of your own", dir)
	}
	return nil
}

// MakeState creates a state directory, with a file that keeps it out of repositories: its content is useless
// elsewhere. An existing directory of another name can contain foreign files, and stays unchanged.
func MakeState(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	err := os.Mkdir(dir, 0o755)
	if err := CheckOwner(dir); err != nil {
		return err
	}
	if errors.Is(err, fs.ErrExist) && filepath.Base(dir) != StateName {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return writeNew(filepath.Join(dir, ".gitignore"), "*\n")
}

// writeNew writes a file unless it exists.
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

// IsDenied reports whether a file could not be written because of its location.
func IsDenied(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// HintStateDir adds a solution to an error about the state directory.
func HintStateDir(err error) error {
	if !IsDenied(err) {
		return err
	}
	return fmt.Errorf("%w; set FEVALGRAPH_DIR to a directory that can be written", err)
}
