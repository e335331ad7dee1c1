package harbor

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// What of a task's directory its digest is about.
var (
	digested     = []string{"task.toml", "instruction.md", "README.md", "trajectory.json", "environment", "tests", "solution", "steps"}
	notDigested  = []string{"*.pyc", ".DS_Store", "*.swp", "*.swo", "*~"}
	ignoreWithin = []string{".gitignore", harborignored}
)

// taskDigest is the digest by which Harbor's locks name the content of a task, and the files
// that it is of. It is "" for a directory that is no task, and where files that say what is
// ignored, or links, make it another one than is computed here.
func taskDigest(dir string) (digest string, files []string, err error) {
	if _, err := os.Stat(filepath.Join(dir, "task.toml")); dir == "" || err != nil {
		return "", nil, nil
	}
	if _, err := os.Stat(filepath.Join(dir, ".gitignore")); err == nil {
		return "", nil, nil
	}
	var names []string
	plain := true
	for _, top := range digested {
		err := filepath.WalkDir(filepath.Join(dir, top), func(at string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist) && at == filepath.Join(dir, top):
				return nil
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "__pycache__":
				return filepath.SkipDir
			case d.IsDir() || slices.ContainsFunc(notDigested, func(p string) bool { ok, _ := path.Match(p, d.Name()); return ok }):
				return nil
			case !d.Type().IsRegular() || slices.Contains(ignoreWithin, d.Name()):
				plain = false
			}
			rel, err := filepath.Rel(dir, at)
			names = append(names, filepath.ToSlash(rel))
			return err
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
