package pyjson_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
)

// Words are read as null wherever reads of the file end, and only outside of texts.
func TestWords(t *testing.T) {
	text := `{"skip": [{"a": NaN}, -1], "of": [NaN, -Infinity, Infinity, -1.5, "NaN \" NaN", "\\", NaN]}`
	r := pyjson.NewReader(iotest.OneByteReader(strings.NewReader(text)), pyjson.Options{})
	var got json.RawMessage
	err := r.Only(func() error {
		return r.Object(func(key string) error {
			if key == "skip" {
				return r.Skip()
			}
			return r.Value(&got)
		})
	})
	if want := `[null, null, null, -1.5, "NaN \" NaN", "\\", null]`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

// With Exact, numbers keep their texts, and words are distinguished from texts.
func TestExact(t *testing.T) {
	text := `{"NaN": NaN, "say \"NaN\"": [-Infinity, 1e999, "Infinity"], "b\\": NaN}`
	var got map[string]any
	r := pyjson.NewReader(strings.NewReader(text), pyjson.Options{Exact: true})
	if err := r.Value(&got); err != nil {
		t.Fatal(err)
	}
	list := got[`say "NaN"`].([]any)
	for i, c := range []struct {
		value any
		want  string
	}{{got["NaN"], "NaN"}, {list[0], "-Infinity"}, {got[`b\`], "NaN"}} {
		if word, ok := pyjson.Word(c.value.(string)); !ok || word != c.want {
			t.Errorf("%d: %q, want the word %s", i, c.value, c.want)
		}
	}
	if _, ok := pyjson.Word(list[2].(string)); ok || list[1] != json.Number("1e999") {
		t.Errorf("%v", list)
	}
}

// Values of omitted keys are null and long texts are cut, between escapes, wherever reads of the file end.
func TestOptions(t *testing.T) {
	text := `{"big": [{"x": "]}\"", "y": [1, NaN]}], "a": {"big": {}, "c": "1234\u00e9\n", "d": "12\u00e9\u00e9", "e": "big"}, "f": "12345678"}`
	var got json.RawMessage
	r := pyjson.NewReader(iotest.OneByteReader(strings.NewReader(text)), pyjson.Options{Text: 8, Omit: []string{"big"}})
	err := r.Only(func() error { return r.Value(&got) })
	if want := `{"big":null, "a": {"big":null, "c": "1234", "d": "12\u00e9", "e": "big"}, "f": "12345678"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	r = pyjson.NewReader(strings.NewReader(`{"big": "`+strings.Repeat("a", 3<<20)+`", "b": "`+strings.Repeat("a", 3<<20)+`"}`), pyjson.Options{Max: 2 << 20, Omit: []string{"big"}})
	if err := r.Value(&got); err == nil || err.Error() != "a value is larger than 2 MiB" {
		t.Error(err)
	}
}

func TestKeys(t *testing.T) {
	keys := pyjson.Keys([]byte(`{"a": {"b": [{"c": NaN}]}, "d": 1, "e": {"f": "cut`))
	for key, want := range map[string]bool{"a": true, "a.b": true, "d": true, "e": true, "e.f": true, "c": false, "a.c": false, "b": false} {
		if keys[key] != want {
			t.Errorf("%s: %v", key, keys[key])
		}
	}
	if len(pyjson.Keys([]byte("PK"))) > 0 {
		t.Error("invalid JSON has keys")
	}
}

// The error about a value of another type has its location and the name of the expected type in JSON, not in Go.
func TestTypes(t *testing.T) {
	for text, want := range map[string]string{
		`3`:                     `at "0": want an object, not number`,
		`{"n": 1.5}`:            `at "0.n": want a whole number, not number 1.5`,
		`{"n": 1e99}`:           `at "0.n": want a whole number, not number 1e99`,
		`{"s": 3}`:              `at "0.s": want a text, not number`,
		`{"b": "yes"}`:          `at "0.b": want true or false, not string`,
		`{"f": []}`:             `at "0.f": want a number, not array`,
		`{"l": {}}`:             `at "0.l": want an array, not object`,
		`{"m": {"a": {"x":3}}}`: `at "0.m.x": want a text, not number`,
	} {
		var into struct {
			N int      `json:"n"`
			S string   `json:"s"`
			B bool     `json:"b"`
			F float64  `json:"f"`
			L []string `json:"l"`
			M map[string]struct {
				X string `json:"x"`
			} `json:"m"`
		}
		r := pyjson.NewReader(strings.NewReader("["+text+"]"), pyjson.Options{})
		err := r.Array(func(int) error { return r.Value(&into) })
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "json:") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A byte order mark is skipped in files and in their heads.
func TestByteOrderMark(t *testing.T) {
	const text = "\ufeff{\"a\": 1}"
	var a int
	r := pyjson.NewReader(strings.NewReader(text), pyjson.Options{})
	if err := r.Object(func(string) error { return r.Value(&a) }); err != nil || a != 1 || !pyjson.Keys([]byte(text))["a"] {
		t.Errorf("%d, %v", a, err)
	}
	if err := pyjson.Lines(strings.NewReader(text+"\n"+`{"a": 2}`), func(r *pyjson.Reader) error {
		return r.Object(func(string) error { return r.Value(&a) })
	}); err != nil || a != 2 {
		t.Errorf("lines: %d, %v", a, err)
	}
}
