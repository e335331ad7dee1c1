package pyjson_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
)

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

// Valid JSON stays as it is.
func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"a": [1, -2.5e9, true, null, {}, []], "b\"\u00e9": "-Infinity"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var plain, read any
		r := pyjson.NewReader(bytes.NewReader(text), pyjson.Options{})
		wrong := r.Only(func() error { return r.Value(&read) })
		switch err := json.Unmarshal(text, &plain); {
		case err == nil && (wrong != nil || !reflect.DeepEqual(plain, read)):
			t.Errorf("%q: %v, %v", text, read, wrong)
		case err != nil && wrong == nil && !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Infinity")) && !bytes.HasPrefix(text, []byte("\ufeff")):
			t.Errorf("%q: invalid JSON: %v", text, err)
		}
	})
}
