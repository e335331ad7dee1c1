package release

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

// maxText bounds a file whose lines are compared, in bytes.
const maxText = 1 << 20

// maxLine bounds a line that is shown, in characters.
const maxLine = 60

// LineDiff shows how the text of a file differs in one line; "" unless both are texts. Links that lead out of the
// directories of both versions are not followed: what they lead to belongs to this machine.
func LineDiff(oldRoot, old, newRoot, new string) string {
	a, okA := readText(oldRoot, old)
	b, okB := readText(newRoot, new)
	if !okA || !okB {
		return ""
	}
	before, after := strings.Split(a, "\n"), strings.Split(b, "\n")
	first := 0
	for first < len(before) && first < len(after) && before[first] == after[first] {
		first++
	}
	if first == len(before) && first == len(after) {
		return ""
	}
	last := 0
	for last < len(before)-first && last < len(after)-first && before[len(before)-1-last] == after[len(after)-1-last] {
		last++
	}
	gone, come := before[first:len(before)-last], after[first:len(after)-last]
	switch {
	case len(gone) == 0:
		return fmt.Sprintf("line %d: + %s%s", first+1, shown(come[0]), others(len(come)-1))
	case len(come) == 0:
		return fmt.Sprintf("line %d: - %s%s", first+1, shown(gone[0]), others(len(gone)-1))
	}
	was, is := shown(gone[0]), shown(come[0])
	if was == is { // only the indentation differs, or the end of a long line
		was, is = clipped(gone[0]), clipped(come[0])
	}
	return fmt.Sprintf("line %d: %s -> %s%s", first+1, was, is, others(max(len(gone), len(come))-1))
}

func others(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// shown returns a line without its indentation, in quotes.
func shown(line string) string {
	if trimmed := strings.TrimLeft(line, " \t"); trimmed != "" {
		line = trimmed
	}
	return clipped(line)
}

// clipped returns the beginning of a line, in quotes.
func clipped(line string) string {
	if utf8.RuneCountInString(line) > maxLine {
		line = string([]rune(line)[:maxLine-1]) + "…"
	}
	return "`" + line + "`"
}

// readText reads a regular file below root that is text.
func readText(root, path string) (string, bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	rel, ok := subpath.Rel(root, real)
	if !ok || slices.Contains(strings.Split(rel, "/"), ".git") {
		return "", false
	}
	if info, err := os.Lstat(real); err != nil || !info.Mode().IsRegular() || info.Size() > maxText {
		return "", false
	}
	f, err := os.Open(real)
	if err != nil {
		return "", false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText))
	return string(text), err == nil && utf8.Valid(text) && !bytes.ContainsRune(text, 0)
}
