//go:build unix

package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

// sharedPlaces are directories that all programs of the machine write to.
var sharedPlaces = []string{"/", "/dev/shm", "/home", "/root", "/run", "/tmp", "/var", "/var/run", "/var/tmp"}

// shownFiles returns the files and directories that commands can read because the configuration
// names them, even if commands are not isolated and can read more. It omits directories of
// the system, programs, which are in the identity, and directories among the words of a
// shell line, which isolated commands do not see.
func (b *Backend) shownFiles(lines, values []string) []backend.Shown {
	var all []backend.Shown
	below := func(path string, dirs []string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return subpath.Contains(dir, path) })
	}
	add := func(name, path string) {
		known := func(s backend.Shown) bool { return s.Path == path }
		if !below(path, b.opt.Unhashed) && !slices.ContainsFunc(all, known) {
			all = append(all, backend.Shown{Name: name, Path: path})
		}
	}
	for i, path := range b.opt.Readable {
		add(b.opt.ReadableNames[i], path)
	}
	named := func(word string, program, among bool) {
		path := filepath.Clean(word)
		if !filepath.IsAbs(path) || ownInside(path) || below(path, []string{b.opt.Scratch, "/sys"}) || slices.Contains(sharedPlaces, path) {
			return
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if among && b.isolationLevel() != isolation.None {
				return
			}
			for _, place := range systemPlaces() {
				if below(path, []string{place.Target}) {
					return
				}
			}
			if len(b.unlessClosed(path)) == 0 {
				return
			}
		}
		if _, err := lookPath(path, "", "/"); program && err == nil {
			return
		}
		add(path, path)
	}
	for _, line := range lines {
		if isPath(line) {
			named(line, true, false)
			continue
		}
		for _, word := range wordsOf(line) {
			named(word, true, true)
		}
	}
	for _, value := range values {
		for _, path := range filepath.SplitList(value) {
			named(path, false, false)
		}
	}
	return all
}

// isPath reports whether a whole argument is an existing path, regardless of its characters.
func isPath(argument string) bool {
	return filepath.IsAbs(argument) && len(placesOf(argument)) > 0
}

// wordsOf returns the words of a shell line that can be absolute paths, except targets of
// redirections.
func wordsOf(line string) []string {
	var words []string
	for line != "" {
		end := strings.IndexFunc(line, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("'\"`;|&<>()=:,", r) })
		if end < 0 {
			end = len(line)
		}
		if word := line[:end]; strings.HasPrefix(word, "/") && !strings.HasPrefix(word, "//") {
			if glob := strings.IndexAny(word, "*?[{$"); glob >= 0 {
				word = filepath.Dir(word[:glob] + "x")
			}
			words = append(words, word)
		}
		line = line[end:]
		next := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsSpace(r) && !strings.ContainsRune("'\"`;|&<>()=:,", r) })
		if next < 0 {
			break
		}
		redirected := strings.Contains(line[:next], ">")
		if line = line[next:]; redirected {
			line = "\x00" + line // so that the word does not begin with a slash
		}
	}
	return words
}
