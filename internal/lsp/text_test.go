package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// units returns a text as clients count it, and the index of each line's first unit.
func units(text string) (all []uint16, starts []int) {
	all, starts = utf16.Encode([]rune(text)), []int{0}
	for i, u := range all {
		if u == '\n' || u == '\r' && (i+1 == len(all) || all[i+1] != '\n') {
			starts = append(starts, i+1)
		}
	}
	return all, starts
}

// applied returns a text with edits that do not overlap, by code units.
func applied(text string, edits []textEdit) string {
	all, starts := units(text)
	index := func(p Position) int {
		if p.Line >= len(starts) {
			return len(all)
		}
		at, next := starts[p.Line]+p.Character, len(all)
		if p.Line+1 < len(starts) {
			next = starts[p.Line+1]
			for next > starts[p.Line] && (all[next-1] == '\n' || all[next-1] == '\r') {
				next--
			}
		}
		return min(at, next)
	}
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(a, b textEdit) int { return index(b.Range.Start) - index(a.Range.Start) })
	for _, e := range edits {
		all = slices.Replace(all, index(e.Range.Start), index(e.Range.End), utf16.Encode([]rune(e.NewText))...)
	}
	return string(utf16.Decode(all))
}

// within returns the text in a range.
func within(text string, r Range) string {
	whole, rest := applied(text, []textEdit{{r, ""}}), text
	before := applied(text, []textEdit{{Range{r.Start, Position{Line: 1 << 30}}, ""}})
	return strings.TrimSuffix(strings.TrimPrefix(rest, before), strings.TrimPrefix(whole, before))
}

// findPosition returns where the n-th occurrence of a text begins, from 0.
func findPosition(t testing.TB, text, part string, n int) Position {
	t.Helper()
	at := -1
	for range n + 1 {
		next := strings.Index(text[at+1:], part)
		if next < 0 {
			t.Fatalf("%q is not there %d times", part, n+1)
		}
		at += 1 + next
	}
	p := Position{}
	for line := range strings.Lines(text[:at]) {
		if strings.HasSuffix(line, "\n") {
			p.Line++
			p.Character = 0
		} else {
			p.Character = len(utf16.Encode([]rune(line)))
		}
	}
	return p
}

// project writes files into a directory.
func writeProject(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
