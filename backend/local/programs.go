package local

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// programs identifies the programs that words of commands start: by the bytes of the
// file that PATH leads to, wherever it lies, so that two machines with the same programs
// agree. A word that names none has no field. Of a Python virtual environment, whose
// interpreter is the system's own file, the packages count too.
func (b *Backend) programs(_ context.Context, words []string) (backend.Identity, error) {
	var found backend.Identity
	environments := map[string]bool{}
	for _, word := range words {
		program, err := lookPath(word, b.opt.Path, "/")
		if err != nil {
			continue // a command does not find it either
		}
		found = append(found, backend.Field{Label: "program " + word, Value: b.contents(program)})
		environments[filepath.Dir(filepath.Dir(program))] = true
	}
	var packages []string
	virtual := false
	for _, dir := range slices.Sorted(maps.Keys(environments)) {
		if _, err := os.Stat(filepath.Join(dir, "pyvenv.cfg")); err != nil {
			continue
		}
		virtual = true
		installed, _ := fs.Glob(os.DirFS(dir), "lib*/python*/site-packages/*.dist-info")
		for _, info := range installed {
			packages = append(packages, strings.TrimSuffix(path.Base(info), ".dist-info"))
		}
	}
	if virtual {
		found = append(found, backend.Field{Label: "virtual environment", Value: strings.Join(packages, " ")})
	}
	return found, nil
}

// contents is the digest of a program. One that may be started but not read is known by
// its state instead.
func (b *Backend) contents(program string) string {
	info, err := os.Stat(program)
	if err != nil {
		return "gone"
	}
	sum, err := b.opt.Digest(program, info)
	if err != nil {
		return "unreadable, of " + info.ModTime().UTC().String()
	}
	return sum.String()
}

func readDigest(path string, _ fs.FileInfo) (cache.Digest, error) {
	content, err := os.ReadFile(path)
	return cache.SumBytes(content), err
}
