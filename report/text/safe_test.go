package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

func TestLine(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"plain", 0, "plain"},
		{"naïve 日本 👨‍👩‍👧", 0, "naïve 日本 👨‍👩‍👧"},
		{"a\nb\r\n\tc", 0, `a\nb\r\n\tc`},
		{"\x1b[31mred\x1b[0m\x00\x7f\u009b", 0, `\x1b[31mred\x1b[0m\x00\x7f\u009b`},
		{"\u202egpj.exe\u2066\u2028", 0, `\u202egpj.exe\u2066\u2028`},
		{"bad \xff\xfe utf8", 0, `bad \xff\xfe utf8`},
		{"abcdef", 6, "abcdef"},
		{"abcdef", 5, "abcd…"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"\x1b\x1b\x1b", 8, `\x1b\x1…`},
		{strings.Repeat("x", 1<<20), 4, "xxx…"},
		{"", 3, ""},
	} {
		if got := Line(c.in, c.limit); got != c.want {
			t.Errorf("Line(%.40q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

// Characters that set colours, move the cursor or turn the direction of writing.
func TestLineIsInert(t *testing.T) {
	inert := func(r rune) {
		got := Line("a"+string(r)+"b", 0)
		if strings.ContainsRune(got, r) || Block("a"+string(r)+"b") != got {
			t.Errorf("%U is shown as %q", r, got)
		}
	}
	for _, span := range [][2]rune{{0x80, 0x9f}, {0x202a, 0x202e}, {0x2066, 0x2069}, {0x200e, 0x200f}, {0x061c, 0x061c}} {
		for r := span[0]; r <= span[1]; r++ {
			inert(r)
		}
	}
}

func TestBlockKeepsLines(t *testing.T) {
	if got := Block("a\r\n\tb\x1b[2J\nc"); got != "a\n\tb\\x1b[2J\nc" {
		t.Errorf("got %q", got)
	}
}

func TestDocumentIsFitForXML(t *testing.T) {
	if got := Document("a\x00\x1b\tb\r\n\xff\ufffe日"); got != "a\ufffd\ufffd\tb\r\n\ufffd\ufffd日" {
		t.Errorf("got %q", got)
	}
}

func TestFirstLine(t *testing.T) {
	for in, want := range map[string]string{"": "", "\n \n  a b \nc": "a b", "x": "x"} {
		if got := FirstLine(in); got != want {
			t.Errorf("FirstLine(%q) = %q", in, got)
		}
	}
}

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"checkpoint_1 __init__ _x": `checkpoint_1 \_\_init\_\_ \_x`,
		"<b>*x*</b> `y` [z](u)":    "&lt;b&gt;\\*x\\*&lt;/b&gt; \\`y\\` \\[z\\](u)",
		"@all\n# h":                "@\u200ball\\\\n# h",
		"fixes #1, o/r#2, gh-3":    "fixes #\u200b1, o/r#\u200b2, gh-\u200b3",
		"http://x www.x WWW.x a-1": "http:\u200b//x www\u200b.x WWW\u200b.x a-1",
	} {
		if got := Markdown(in, 0); got != want {
			t.Errorf("Markdown(%q) = %q, want %q", in, got, want)
		}
	}
}

// Any text becomes one line of valid UTF-8 that moves no cursor and fits.
func FuzzLine(f *testing.F) {
	f.Add("plain", 3)
	f.Add("\x1b[2J\u202e\xff日本\r\n", 7)
	f.Add("👨‍👩‍👧👨‍👩‍👧", 2)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		got := Line(s, limit)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) || strings.ContainsRune(got, '\u202e') {
			t.Errorf("unsafe: %q", got)
		}
		if limit > 0 && uniseg.StringWidth(got) > limit {
			t.Errorf("%q is wider than %d", got, limit)
		}
		if Line(got, 0) != got {
			t.Errorf("a safe line was changed: %q", got)
		}
		if Document(Document(s)) != Document(s) {
			t.Errorf("Document is not idempotent for %q", s)
		}
	})
}
