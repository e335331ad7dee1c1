package funcs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// laughs returns a YAML text of levels that each hold the one before nine times.
func laughs(levels int) string {
	text := "l0: &l0 x\n"
	for i := range levels {
		text += fmt.Sprintf("l%d: &l%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d,", i), 9), ","))
	}
	return text
}

func TestYAMLSize(t *testing.T) {
	for _, try := range []struct{ name, text, err string }{
		{name: "aliases", text: laughs(4)},
		{name: "too many aliases", text: laughs(6), err: "its aliases expand to more than 200000 values"},
		{name: "more than can be counted", text: laughs(60), err: "its aliases expand to more than 200000 values"},
		{name: "merged maps", text: "a: &a {x: 1}\nb:\n  <<: *a\n  y: 2\n"},
		{name: "nested", text: strings.Repeat("[", 190) + strings.Repeat("]", 190)},
		{name: "nested too deep", text: strings.Repeat("[", 300) + strings.Repeat("]", 300), err: "it is nested deeper than 200 levels"},
		{name: "nested past all limits", text: strings.Repeat("[", 100_000), err: "it is nested deeper than 200 levels"},
		{name: "in itself", text: "a: &a [*a]\n", err: `cannot refer to anchor "a" from inside its own definition`},
		{name: "unknown alias", text: "a: *b\n", err: `undefined anchor "b"`},
		{name: "syntax", text: "a: [1\n", err: "on line"},
		{name: "empty", text: "", err: "missing start of document"},
		{name: "two documents", text: "a: 1\n---\nb: 1\n", err: "unexpected extra content"},
	} {
		_, err := yamlDecodeFunc.Call([]cty.Value{cty.StringVal(try.text)})
		switch {
		case try.err == "" && err != nil:
			t.Errorf("%s: %v", try.name, err)
		case try.err != "" && (err == nil || !strings.Contains(err.Error(), try.err)):
			t.Errorf("%s: %v, want %s", try.name, err, try.err)
		}
	}
	if err := CheckYAML("l:\n" + strings.Repeat("- [1, 2, 3]\n", 60_000)); err != nil {
		t.Errorf("text without aliases is rejected: %v", err)
	}
	if v, err := yamlDecodeFunc.Call([]cty.Value{cty.UnknownVal(cty.String)}); err != nil || v.IsKnown() {
		t.Errorf("of an unknown text: %#v, %v", v, err)
	}
}

func FuzzYAMLSize(f *testing.F) {
	for _, seed := range []string{laughs(2), "a: &a\n  b: *a\n", "? [x]\n: y", "- - -", "{a: &x 1, b: *x}", "a: &a\n<<: *a\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { CheckYAML(text) })
}
