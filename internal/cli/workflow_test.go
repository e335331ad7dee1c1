package cli

import (
	"strings"
	"testing"
)

func TestCommandBreaker(t *testing.T) {
	for in, want := range map[string]string{
		"a ##[error]b\n###[x] # [y] #[z]":    "a ## [error]b\n### [x] # [y] #[z]",
		"::add-mask::x\n \t::stop::y\na::b":  ": :add-mask::x\n \t: :stop::y\na::b",
		"progress\r::error::x":               "progress\r: :error::x",
		"\u00a0::a\n\u2003::b\n\u2028::c":    "\u00a0: :a\n\u2003: :b\n\u2028: :c",
		"\u3000::a\n\u0085::b\n\v::c\n\f::d": "\u3000: :a\n\u0085: :b\n\v: :c\n\f: :d",
		"\ufeff \u200b::a\n\x00::b\x85::c":   "\ufeff \u200b: :a\n\x00: :b\x85::c",
	} {
		for cut := range len(in) {
			var out strings.Builder
			b := &commandBreaker{w: &out, bracket: " [", start: true}
			for _, part := range []string{in[:cut], in[cut:]} {
				if n, err := b.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if out.String() != want {
				t.Errorf("%q, cut at %d, becomes %q, want %q", in, cut, out.String(), want)
			}
		}
	}
}
