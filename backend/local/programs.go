package local

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// programs identifies the programs that words of commands start by the content of the file found in PATH,
// regardless of its location, so that machines with the same programs agree, and by its installation. Words that
// name no program have no field. The identity of a version manager's shim includes the program that it starts, and that of
// a Python interpreter includes the packages that it can import.
func (b *Backend) programs(ctx context.Context, words []string) (backend.Identity, error) {
	var found backend.Identity
	var installed packages
	for _, word := range words {
		program, err := lookPath(word, b.opt.Path, "/")
		if err != nil {
			continue // commands do not find it either
		}
		found = append(found, backend.Field{Label: "program " + word, Value: b.contents(program)})
		target, isShim := b.shimTarget(ctx, word, program)
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if isShim {
			value := unknownTarget
			if target != "" {
				value = b.contents(target)
			}
			found = append(found, backend.Field{Label: "program " + word + " starts", Value: value})
		}
		for _, path := range []string{program, target} {
			if path == "" {
				continue
			}
			b.addPackages(&installed, path)
			if text := b.installation(path); text != "" {
				found = append(found, backend.Field{Label: "installation of " + word, Value: text})
			}
		}
	}
	if text := installed.text(); text != "" {
		found = append(found, backend.Field{Label: "python packages", Value: text})
	}
	return found, nil
}

// Unidentified returns the words whose programs are shims of version managers that hide which program they
// start, so that no key changes if they start another one. It starts no program.
func (b *Backend) Unidentified(words []string) (shims []string) {
	for _, word := range words {
		if program, err := lookPath(word, b.opt.Path, "/"); err == nil {
			if target, isShim := b.layoutTarget(word, program); isShim && target == "" && !answers(word, program) {
				shims = append(shims, program)
			}
		}
	}
	slices.Sort(shims)
	return slices.Compact(shims)
}

// pythonName matches the names of interpreters.
var pythonName = lazyregexp.New(`^(python|pypy)[0-9.]*t?$`)

// isPython reports whether a path is a Python interpreter, judging by its name.
func isPython(path string) bool { return pythonName().MatchString(filepath.Base(path)) }

// contents returns the digest of a program. A program that can be executed but not read is identified by
// its file state.
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
