package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Generation is a version of the batch evaluator, as far as it decides which
// files of a problem are hashed.
type Generation int

const (
	First  Generation = 1 // scripts, settings and texts only, by their extensions
	Second Generation = 2 // everything but what compilers make
)

// Generations lists every Generation.
var Generations = [...]Generation{First, Second}

// hashed lists the extensions that the first generation hashes, unhashed those that the second ignores.
var (
	hashed   = []string{".py", ".sh", ".yaml", ".yml", ".txt", ".json", ".md", ""}
	unhashed = []string{".exe", ".o", ".obj", ".so", ".dll", ".pyc", ".pyo", ".class", ".a", ".lib"}
)

// HashOfNothing is the hash of a directory in which nothing is hashed. Batches
// have it for every problem when some directory above the problems is hidden.
var HashOfNothing = digest(sha256.New())

// digest returns the part of a hash that batches keep.
func digest(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil))[:16] }

// HashFile returns the hash of a solution's file.
func HashFile(name string) (string, error) {
	h := sha256.New()
	if err := hashContent(h, name); err != nil {
		return "", err
	}
	return digest(h), nil
}

// HashDirectory returns the hash of a problem's directory. Batches ignore hidden files and directories, also
// above the directory; here only those below it are ignored.
func HashDirectory(dir string, g Generation) (string, error) {
	names, err := files(dir, g)
	if err != nil {
		return "", fmt.Errorf("listing the problem's files: %w", err)
	}
	h := sha256.New()
	for _, name := range names {
		io.WriteString(h, name+"\x00")
		if err := hashContent(h, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return "", err
		}
		h.Write([]byte{0})
	}
	return digest(h), nil
}

// files returns the names below dir that are hashed, in the order of their parts: a/x before a-b/x.
func files(dir string, g Generation) ([]string, error) {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	var names [][]string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == dir {
			return nil
		}
		if base := d.Name(); strings.HasPrefix(base, ".") || base == "__pycache__" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if isFile(name, d) && g.hashes(d.Name()) {
			names = append(names, strings.Split(filepath.ToSlash(rel), "/"))
		}
		return nil
	})
	slices.SortFunc(names, slices.Compare[[]string])
	joined := make([]string, len(names))
	for i, parts := range names {
		joined[i] = path.Join(parts...)
	}
	return joined, err
}

// isFile reports whether an entry is a regular file or a link to one.
func isFile(name string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.Type().IsRegular()
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// hashes reports whether a file of that name counts. "readme" and "noext." have
// no extension.
func (g Generation) hashes(name string) bool {
	ext := path.Ext(name)
	if ext == "." || ext == name {
		ext = ""
	}
	if g == First {
		return slices.Contains(hashed, ext)
	}
	return !slices.Contains(unhashed, ext)
}

func hashContent(h hash.Hash, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(h, f)
	return err
}
