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

// programs identifies the programs that words of commands start: by the bytes of the
// file that PATH leads to, wherever it lies, so that two machines with the same programs
// agree. A word that names none has no field. A shim of a version manager is identified
// by what it starts, too, and a Python interpreter by the packages that it imports.
func (b *Backend) programs(ctx context.Context, words []string) (backend.Identity, error) {
	var found backend.Identity
	var installed packages
	for _, word := range words {
		program, err := lookPath(word, b.opt.Path, "/")
		if err != nil {
			continue // a command does not find it either
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
			if path != "" {
				b.addPackages(&installed, path)
			}
		}
	}
	if text := installed.text(); text != "" {
		found = append(found, backend.Field{Label: "python packages", Value: text})
	}
	return found, nil
}

// Unidentified returns the words whose programs are shims of version managers that hide
// which program they start. No key changes when they start another one. It starts nothing.
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

// isPython reports whether a path is that of an interpreter, by its name.
func isPython(path string) bool { return pythonName().MatchString(filepath.Base(path)) }

// contents returns the digest of a program. A program that can be started but not read is identified by its
// state.
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
