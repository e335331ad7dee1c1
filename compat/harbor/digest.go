package harbor

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// What of a task's directory its digest is about.
var digested = []string{"task.toml", "instruction.md", "README.md", "trajectory.json", "environment", "tests", "solution", "steps"}

// notDigested is ignored by the digest if the directory has no .gitignore.
const notDigested = "__pycache__/\n*.pyc\n.DS_Store\n*.swp\n*.swo\n*~\n"

// taskDigest returns the digest by which Harbor's locks name the content of a task's directory. It returns
// "" for a directory that is not a task, and if Harbor's digest would differ because of links or names that
// are not text.
func taskDigest(dir fs.FS) (string, error) {
	if _, err := fs.Stat(dir, "task.toml"); err != nil {
		return "", nil
	}
	read := func(name string) string {
		text, _ := fs.ReadFile(dir, name)
		return string(text)
	}
	left := ignoreRules(cmp.Or(read(".gitignore"), notDigested))
	ignored := newIgnores(read)
	var names []string
	plain := true
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		top, _, _ := strings.Cut(name, "/")
		switch {
		case !slices.Contains(digested, top) || ignored.excluded(name, d.IsDir()):
			return skipped(d)
		case !fs.ValidPath(name): // not text: Harbor has no digest of the task
			plain = false
			return skipped(d)
		case d.IsDir() || leftOut(left, name):
			return nil
		case !d.Type().IsRegular():
			plain = false
		}
		names = append(names, name)
		return nil
	})
	if err != nil || !plain {
		return "", err
	}
	slices.Sort(names)
	all := sha256.New()
	for _, name := range names {
		sum, err := sumOf(dir, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(all, "%s\x00%s\n", name, sum)
	}
	return "sha256:" + hex.EncodeToString(all.Sum(nil)), nil
}

// skipped goes past a file, or a directory with all that is in it.
func skipped(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func sumOf(dir fs.FS, name string) (string, error) {
	file, err := dir.Open(name)
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

// isDigest reports whether text is a digest of a task; records have anything in its place.
func isDigest(text string) bool {
	sum, ok := strings.CutPrefix(text, "sha256:")
	raw, err := hex.DecodeString(sum)
	return ok && err == nil && len(raw) == sha256.Size && hex.EncodeToString(raw) == sum
}
