// Package subpath relates paths to the directories that contain them, by their names alone: callers resolve symbolic
// links first where these matter.
package subpath

import "path/filepath"

// Rel returns path relative to dir, with slashes, and reports whether path is dir or below it. A directory is "."
// relative to itself. If only one of both is absolute, path is not below dir.
func Rel(dir, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// Contains reports whether path is dir or below it.
func Contains(dir, path string) bool {
	_, ok := Rel(dir, path)
	return ok
}
