package answer

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of paths, which every file system accepts below a project's directory.
const (
	maxPath  = 400 // bytes
	maxName  = 200
	maxDepth = 20
)

// CheckPath returns an error if a file of a solution must not have the path. An accepted path is relative, clean, with
// slashes, and means the same file on every system.
func CheckPath(p string) error {
	why := ""
	switch {
	case p == "":
		why = "it is empty"
	case len(p) > maxPath:
		return fmt.Errorf("the answer names a file by a path of %d bytes, more than %d", len(p), maxPath)
	case !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsPrint(r) }):
		why = "it has unprintable characters"
	case strings.ContainsAny(p, `\:<>"|?*`):
		why = "it has a character that not every system allows"
	case path.IsAbs(p):
		why = "it is absolute"
	case path.Clean(p) != p || p == ".." || p == "." || strings.HasPrefix(p, "../"):
		why = "it is not clean, or leads out of the solution"
	case strings.Count(p, "/") >= maxDepth:
		why = "it is nested too deeply"
	default:
		for name := range strings.SplitSeq(p, "/") {
			if why = badName(name); why != "" {
				break
			}
		}
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("the answer has a file %q, which is not written: %s", p, why)
}

func badName(name string) string {
	base, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch base = strings.TrimSpace(base); base {
	case "CON", "PRN", "AUX", "NUL", "CLOCK$", "CONIN$", "CONOUT$":
		return "it is the name of a device"
	}
	if number, ok := strings.CutPrefix(base, "COM"); ok && len([]rune(number)) == 1 && strings.ContainsAny(number, "0123456789¹²³") {
		return "it is the name of a device"
	}
	if number, ok := strings.CutPrefix(base, "LPT"); ok && len([]rune(number)) == 1 && strings.ContainsAny(number, "0123456789¹²³") {
		return "it is the name of a device"
	}
	switch {
	case len(name) > maxName:
		return "a name in it is too long"
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") || strings.HasPrefix(name, " "):
		return "a name in it begins or ends with a blank, or ends with a dot"
	case strings.EqualFold(name, ".git"):
		return "it is in the directory of a repository"
	}
	return ""
}
