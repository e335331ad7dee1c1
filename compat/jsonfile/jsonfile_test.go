package jsonfile_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fevalgraph/fevalgraph/compat/jsonfile"
)

// Words are read as null wherever reads of the file end, and only outside of texts.
func TestWords(t *testing.T) {
	text := `{"skip": [{"a": NaN}, -1], "of": [NaN, -Infinity, Infinity, -1.5, "NaN \" NaN", "\\", NaN]}`
	r := jsonfile.New(iotest.OneByteReader(strings.NewReader(text)))
	var got json.RawMessage
	err := r.Object(func(key string) error {
		if key == "skip" {
			return r.Skip()
		}
		return r.Value(&got)
	})
	if err == nil {
		err = r.End()
	}
	if want := `[null, null, null, -1.5, "NaN \" NaN", "\\", null]`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestKeys(t *testing.T) {
	keys := jsonfile.Keys([]byte(`{"a": {"b": [{"c": NaN}]}, "d": 1, "e": {"f": "cut`))
	for key, want := range map[string]bool{"a": true, "a.b": true, "d": true, "e": true, "e.f": true, "c": false, "a.c": false, "b": false} {
		if keys[key] != want {
			t.Errorf("%s: %v", key, keys[key])
		}
	}
	if len(jsonfile.Keys([]byte("PK"))) > 0 {
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
		r := jsonfile.New(strings.NewReader("[" + text + "]"))
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
	r := jsonfile.New(strings.NewReader(text))
	if err := r.Object(func(string) error { return r.Value(&a) }); err != nil || a != 1 || !jsonfile.Keys([]byte(text))["a"] {
		t.Errorf("%d, %v", a, err)
	}
	if err := jsonfile.Lines(strings.NewReader(text+"\n"+`{"a": 2}`), func(r *jsonfile.Reader) error {
		return r.Object(func(string) error { return r.Value(&a) })
	}); err != nil || a != 2 {
		t.Errorf("lines: %d, %v", a, err)
	}
}
