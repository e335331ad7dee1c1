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
		t.Error("what is no JSON has keys")
	}
}
