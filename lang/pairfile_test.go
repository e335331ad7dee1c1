package lang

import (
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, try := range []struct{ name, text, pairs, findings string }{
		{"plain", "a:p\nb:q\n", "a|p@1,1 b|q@2,1", ""},
		{"no end of line", "a:p", "a|p@1,1", ""},
		{"windows", "a:p\r\n\r\nb:q\r\n", "a|p@1,1 b|q@3,1", ""},
		{"mark", "\ufeffa:p\n", "a|p@1,1", ""},
		{"comments and spaces", "# all\n\n  a : p \n\t# b:q\n", "a|p@3,3", ""},
		{"first colon", "a:p:q\n", "a|p:q@1,1", ""},
		{"paths", "flash/gpt 5.py:flash/big", "flash/gpt 5.py|flash/big@1,1", ""},
		{"a comment is a whole line", "a:p # b", "a|p # b@1,1", ""},
		{"twice", "a:p\na:p\n", "a|p@1,1 a|p@2,1", ""},
		{"no colon", "a:p\n  b\nc:r\n", "a|p@1,1 c|r@3,1", `2,3 bad-pair: "b" has no colon.`},
		{"no solution", " :p\n", "", `1,2 bad-pair: ":p" names no solution.`},
		{"no problem", "a: \n", "", `1,1 bad-pair: "a:" names no problem.`},
		{"empty", "", "", `1,1 empty-pairs: "f" names nothing to judge.`},
		{"only comments", "\ufeff# a:p\r\n\r\n", "", `1,1 empty-pairs: "f" names nothing to judge.`},
		{"utf-16", "\xff\xfea\x00:\x00p\x00", "", `1,1 not-utf8: "f" is UTF-16 text.`},
		{"not text", "a:p\nb\xff:q\n", "a|p@1,1", `2,1 bad-pair: The line is not UTF-8 text.`},
		{"control", "a:p\x00\n", "", `1,1 bad-pair: The line has a control character.`},
	} {
		t.Run(try.name, func(t *testing.T) {
			list, findings := parsePairs("f", []byte(try.text))
			var got, said []string
			for _, p := range list {
				got = append(got, fmt.Sprintf("%s|%s@%d,%d", p.Solution, p.Problem, p.Range.Start.Line, p.Range.Start.Column))
				if text := try.text[p.Range.Start.Byte:p.Range.End.Byte]; text != p.Text {
					t.Errorf("the range of %q holds %q", p.Text, text)
				}
			}
			for _, d := range findings {
				said = append(said, fmt.Sprintf("%d,%d %s: %s", d.Range.Start.Line, d.Range.Start.Column, d.Code, d.Detail))
			}
			if g := strings.Join(got, " "); g != try.pairs {
				t.Errorf("pairs %s, want %s", g, try.pairs)
			}
			if s := strings.Join(said, "\n"); s != try.findings {
				t.Errorf("found %s, want %s", s, try.findings)
			}
		})
	}
}

// Accepted pairs name something on either side and have the right position.
func FuzzPairs(f *testing.F) {
	f.Add([]byte("\ufeff# x\r\n a/b.py : p \r\n"))
	f.Add([]byte("a:p\na:p\nb"))
	f.Fuzz(func(t *testing.T, content []byte) {
		list, findings := parsePairs("f", content)
		if len(list) == 0 && !findings.HasErrors() {
			t.Error("neither a pair nor a finding")
		}
		for _, p := range list {
			if p.Solution == "" || p.Problem == "" || strings.TrimSpace(p.Solution) != p.Solution {
				t.Errorf("%+v", p)
			}
			if text := string(content[p.Range.Start.Byte:p.Range.End.Byte]); text != p.Text {
				t.Errorf("the range of %q holds %q", p.Text, text)
			}
		}
	})
}
