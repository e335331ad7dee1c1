package lang

import (
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

var (
	suggested    = lazyregexp.New(`^did you mean "?([^"?\n]+)"?\?$`)
	writtenName  = lazyregexp.New(`^[\pL_][\pL\pN_-]*(\.[\pL_][\pL\pN_-]*)*$`)
	writtenStep  = lazyregexp.New(`^\.[\pL_][\pL\pN_-]*$`)
	writtenText  = lazyregexp.New(`^"[^"$%\\\n]*"$`)
	writtenBlock = lazyregexp.New(`^[\pL_][\pL\pN_-]*`)
)

// fixOf returns the edit for a hint of the form "did you mean x?", or nil if the finding is about more than
// one name or text.
func fixOf(src *source, f finding) *diag.Fix {
	m := suggested().FindStringSubmatch(f.hint)
	if m == nil || f.unshown {
		return nil
	}
	text, meant, at := rangeText(src, f.rng), m[1], f.rng
	switch {
	case f.code == "unknown-block":
		word := writtenBlock().FindString(text)
		if word == "" {
			return nil
		}
		at = part(f.rng, 0, len(word))
	case writtenText().MatchString(text):
		meant = strconv.Quote(meant)
	case writtenStep().MatchString(text):
		meant = "." + meant[strings.LastIndexByte(meant, '.')+1:]
	case writtenName().MatchString(text):
		root, _, _ := strings.Cut(text, ".")
		switch dot := strings.LastIndexByte(text, '.'); {
		case strings.HasSuffix(meant, "."+root): // its prefix is missing
			at = part(f.rng, 0, len(root))
		case dot >= 0 && !strings.Contains(meant, "."):
			at = part(f.rng, dot+1, len(text))
		}
	default:
		return nil
	}
	return &diag.Fix{Range: convertRange(at), Text: meant}
}

// part returns a part of a range's first line, by bytes. Columns assume names without combining
// characters.
func part(r hcl.Range, from, to int) hcl.Range {
	r.End = hcl.Pos{Line: r.Start.Line, Column: r.Start.Column + to, Byte: r.Start.Byte + to}
	r.Start.Column += from
	r.Start.Byte += from
	return r
}
