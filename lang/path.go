package lang

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

const globCharacters = "*?[{"

// isGlob reports whether a written path is a pattern.
func isGlob(written string) bool { return strings.ContainsAny(written, globCharacters) }

// splitGlob splits an absolute pattern at the last directory without glob
// characters.
func splitGlob(pattern string) (dir, rest string) {
	return doublestar.SplitPattern(filepath.ToSlash(pattern))
}

// EscapeGlob returns a pattern that matches only the path.
func EscapeGlob(path string) string {
	var b strings.Builder
	for _, r := range path {
		if strings.ContainsRune(`\*?[]{}`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// matchesAny reports whether an absolute pattern matches any file.
func matchesAny(pattern string) (bool, error) {
	dir, rest := splitGlob(pattern)
	return subpath.MatchesAny(os.DirFS(dir), rest)
}

// isRelativeInside reports whether a slash-separated path is relative and contains neither "." nor "..".
func isRelativeInside(p string) bool {
	return p != "" && p != "." && !path.IsAbs(p) && path.Clean(p) == p && p != ".." && !strings.HasPrefix(p, "../") &&
		!strings.ContainsAny(p, "\\\x00")
}

// stat looks up the path in an attribute, and reports errors at the attribute.
func (b *block) stat(name, absolute, hint string) (fs.FileInfo, bool) {
	b.l.input("exists", absolute)
	info, err := os.Stat(absolute)
	if err == nil {
		return info, true
	}
	code, summary := "unreadable-file", "Unreadable file"
	switch {
	case isMissing(err):
		code, summary = "missing-file", "Missing file or directory"
	case errors.Is(err, syscall.ELOOP):
		code, summary, hint = "symlink-loop", "Loop of symbolic links", ""
	default:
		hint = ""
	}
	b.reject(name, code, summary, pathReason(b.l.show(absolute), err), hint)
	return nil, false
}

// isMissing reports whether err means that a file does not exist.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
