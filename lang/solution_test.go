package lang

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// A computed label has the digits of a 64-bit number, and a written one its own.
func TestNumbersOfLabels(t *testing.T) {
	third, err := stdlib.Divide(cty.NumberIntVal(1), cty.NumberIntVal(3))
	if err != nil {
		t.Fatal(err)
	}
	got := shortNumbers(cty.ObjectVal(map[string]cty.Value{
		"third": third, "written": cty.MustParseNumberVal("0.1"), "whole": cty.NumberIntVal(12), "text": cty.StringVal("a"),
	}))
	for name, want := range map[string]cty.Value{
		"third": cty.StringVal("0.3333333333333333"), "written": cty.StringVal("0.1"), "whole": cty.NumberIntVal(12), "text": cty.StringVal("a"),
	} {
		if value := got.GetAttr(name); !value.RawEquals(want) {
			t.Errorf("%s is %#v, want %#v", name, value, want)
		}
	}
	for _, same := range []cty.Value{cty.NullVal(cty.DynamicPseudoType), cty.EmptyObjectVal, cty.ListVal([]cty.Value{cty.StringVal("a")})} {
		if got := shortNumbers(same); !got.RawEquals(same) {
			t.Errorf("%#v became %#v", same, got)
		}
	}
}
