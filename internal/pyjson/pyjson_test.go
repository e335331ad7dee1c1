package pyjson_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
)

func TestQuote(t *testing.T) {
	text := `{"NaN": NaN, "say \"NaN\"": [-Infinity, Infinity, 1.5, "Infinity"], "b\\": NaN}`
	var got map[string]any
	if err := json.Unmarshal(pyjson.Quote([]byte(text)), &got); err != nil {
		t.Fatal(err)
	}
	list := got[`say "NaN"`].([]any)
	for i, c := range []struct {
		value any
		want  string
	}{{got["NaN"], "NaN"}, {list[0], "-Infinity"}, {list[1], "Infinity"}, {got[`b\`], "NaN"}} {
		if word, ok := pyjson.Word(c.value.(string)); !ok || word != c.want {
			t.Errorf("%d: %q, want the word %s", i, c.value, c.want)
		}
	}
	if _, ok := pyjson.Word(list[3].(string)); ok {
		t.Error("a text of the file passed for a number")
	}
	if got := string(pyjson.Quote([]byte(`{"a": 1}`))); got != `{"a": 1}` {
		t.Errorf("a text without such words became %s", got)
	}
}

// Output of Python 3 for repr(f).
func TestFloat(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{
		{100, "100.0"}, {0, "0.0"}, {math.Copysign(0, -1), "-0.0"}, {85.24426979142858, "85.24426979142858"},
		{9.5e-05, "9.5e-05"}, {0.0001, "0.0001"}, {1e16, "1e+16"}, {123456789012345680, "1.2345678901234568e+17"}, {-10000, "-10000.0"},
		{math.NaN(), "nan"}, {math.Inf(1), "inf"}, {math.Inf(-1), "-inf"}, {1e300, "1e+300"},
	} {
		if got := pyjson.Float(c.f); got != c.want {
			t.Errorf("Float(%g) = %s, want %s", c.f, got, c.want)
		}
	}
}

func FuzzQuote(f *testing.F) {
	f.Add([]byte(`{"a": NaN, "b\"": "-Infinity"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		// Valid JSON is unchanged.
		var before, after any
		if json.Unmarshal(text, &before) != nil {
			return
		}
		if err := json.Unmarshal(pyjson.Quote(text), &after); err != nil {
			t.Fatal(err)
		}
	})
}
