package harbor

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// What of a task's directory its digest is about.
var digested = []string{"task.toml", "instruction.md", "README.md", "trajectory.json", "environment", "tests", "solution", "steps"}

// notDigested is left out of it where the directory has no .gitignore of its own.
const notDigested = "__pycache__/\n*.pyc\n.DS_Store\n*.swp\n*.swo\n*~\n"

// taskDigest is the digest by which Harbor's locks name the content of a task, and the files
// that it follows from. It is "" for a directory that is no task, and where links make it another
// one than is computed here.
func taskDigest(dir string) (digest string, files []string, err error) {
	if _, err := os.Stat(filepath.Join(dir, "task.toml")); dir == "" || err != nil {
		return "", nil, nil
	}
	read := func(rel string) string {
		at := filepath.Join(dir, filepath.FromSlash(rel))
		text, err := os.ReadFile(at)
		if err == nil {
			files = append(files, at)
		}
		return string(text)
	}
	left := ignoreRules(cmp.Or(read(".gitignore"), notDigested))
	ignored := newIgnores(read)
	var names []string
	plain := true
	for _, top := range digested {
		err := filepath.WalkDir(filepath.Join(dir, top), func(at string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && at == filepath.Join(dir, top) {
				return nil
			}
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(dir, at)
			if err != nil {
				return err
			}
			name := filepath.ToSlash(rel)
			switch {
			case d.IsDir() && ignored.excluded(name, true):
				return filepath.SkipDir
			case d.IsDir() || ignored.excluded(name, false) || leftOut(left, name):
				return nil
			case !d.Type().IsRegular():
				plain = false
			}
			names = append(names, name)
			return nil
		})
		if err != nil {
			return "", nil, err
		}
	}
	if !plain {
		return "", nil, nil
	}
	slices.Sort(names)
	all := sha256.New()
	for _, name := range names {
		at := filepath.Join(dir, filepath.FromSlash(name))
		sum, err := sumOf(at)
		if err != nil {
			return "", nil, err
		}
		files = append(files, at)
		fmt.Fprintf(all, "%s\x00%s\n", name, sum)
	}
	return "sha256:" + hex.EncodeToString(all.Sum(nil)), files, nil
}

func sumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
