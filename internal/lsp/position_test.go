package lsp

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
)

// hard lists texts whose characters have several bytes, several units, or no column, and lines with every kind
// of end.
var hard = []string{"", "\n", "\r\n", "\r", "a", "\t", "é", "e\u0301", "🗄️", "𝒳", "家", "\u200d", "\ufeff", "\"", "{", "}", "=", " ", "${", "a.b", "\u2028"}

func TestPositions(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var b strings.Builder
		for range random.IntN(60) {
			b.WriteString(hard[random.IntN(len(hard))])
		}
		text := b.String()
		l := newLines([]byte(text))
		all, starts := units(text)
		if len(starts) != len(l.starts) {
			t.Fatalf("%q has %d lines, want %d", text, len(l.starts), len(starts))
		}
		unit := 0
		for at, r := range text { // every position between characters, in both directions
			p := l.position(at)
			if want := starts[p.Line] + p.Character; want != unit {
				t.Fatalf("byte %d of %q is unit %d, want %d", at, text, want, unit)
			}
			if within := at < l.end(p.Line) || at == l.starts[p.Line]; within && l.offset(p) != at {
				t.Fatalf("byte %d of %q is at %+v, which is byte %d", at, text, p, l.offset(p))
			}
			unit += len(utf16.Encode([]rune{r}))
		}
		if unit != len(all) || l.offset(Position{Line: len(starts)}) != len(text) || l.offset(Position{Line: -1}) != 0 {
			t.Fatalf("the ends of %q are wrong", text)
		}
	}
}

func TestPositionsOutside(t *testing.T) {
	l := newLines([]byte("a🗄b\r\nc"))
	for _, test := range []struct {
		at   Position
		want int
	}{
		{Position{0, 2}, 1}, // between the halves of a character
		{Position{0, 3}, 5},
		{Position{0, 99}, 6}, // after the end, before \r\n
		{Position{1, 99}, 9},
		{Position{7, 0}, 9},
	} {
		if got := l.offset(test.at); got != test.want {
			t.Errorf("%+v is byte %d, want %d", test.at, got, test.want)
		}
	}
	if got := newLines([]byte("a\xff\xffb")).position(3); got != (Position{0, 3}) {
		t.Errorf("invalid bytes count as %+v", got)
	}
}

func TestURIs(t *testing.T) {
	for _, path := range []string{"/a/b c/fevalgraph.hcl", "/ä/100%/#1?.hcl", "/a:b/[x].hcl"} {
		if got := pathOf(uriOf(path)); got != path {
			t.Errorf("%q became %q", path, got)
		}
	}
	if got := pathOf("file:///c%3A/x.hcl"); !strings.HasSuffix(got, "c:/x.hcl") && !strings.HasSuffix(got, `c:\x.hcl`) {
		t.Errorf("an escaped colon became %q", got)
	}
	for _, uri := range []string{"untitled:a", "http://host/a", "::", ""} {
		if got := pathOf(uri); got != "" {
			t.Errorf("%q is the file %q", uri, got)
		}
	}
}
