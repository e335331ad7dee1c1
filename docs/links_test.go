package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestLinks(t *testing.T) {
	linked := map[string]bool{"README.md": true, "../README.md": true, "../AGENTS.md": true}
	all := pages(t)
	byPath := map[string]*page{}
	for _, p := range all {
		byPath[p.path] = p
	}
	for _, p := range all {
		for i, line := range outsideBlocks(p) {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				if strings.Contains(m[1], "://") {
					continue
				}
				file, anchor, _ := strings.Cut(m[1], "#")
				target := p.path
				if file != "" {
					target = strings.TrimPrefix(path.Join("docs", path.Dir(p.path), file), "docs/")
					if target == path.Join("docs", path.Dir(p.path), file) {
						target = "../" + target
					}
				}
				linked[target] = true
				if _, err := os.Stat(filepath.FromSlash(target)); err != nil {
					t.Errorf("%s:%d: %s leads nowhere", p.path, i+1, m[1])
				} else if to := byPath[target]; anchor != "" && (to == nil || !anchors(to)[anchor]) {
					t.Errorf("%s:%d: %s: heading #%s not found", p.path, i+1, target, anchor)
				}
			}
		}
	}
	for _, p := range all {
		if !linked[p.path] {
			t.Errorf("no page links to %s", p.path)
		}
	}
}

// mostWords bounds the pages in docs. Lower it after a cut.
const mostWords = 60_000

// mostTour bounds ARCHITECTURE.md.
const mostTour = 2_000

func TestWords(t *testing.T) {
	words := 0
	for _, p := range pages(t) {
		if !strings.HasPrefix(p.path, "../") {
			words += len(strings.Fields(p.text()))
		}
	}
	if words > mostWords {
		t.Errorf("the pages have %d words; cut some: at most %d", words, mostWords)
	}
	tour, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	if words := len(strings.Fields(string(tour))); words > mostTour {
		t.Errorf("ARCHITECTURE.md has %d words, at most %d: document packages in their docs", words, mostTour)
	}
}

// outsideBlocks returns the lines of a page; lines of fenced blocks are empty.
func outsideBlocks(p *page) []string {
	lines := make([]string, len(p.lines))
	inside := false
	for i, line := range p.lines {
		if strings.HasPrefix(line, "```") {
			inside = !inside
		} else if !inside {
			lines[i] = line
		}
	}
	return lines
}

// anchors returns the names that a page's headings have in links.
func anchors(p *page) map[string]bool {
	found := map[string]bool{}
	for _, line := range outsideBlocks(p) {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		heading := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#")))
		found[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return r
			}
			return -1
		}, heading)] = true
	}
	return found
}
