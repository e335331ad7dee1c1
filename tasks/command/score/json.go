package score

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
)

// readJSON reads the numbers at two pointers in a JSON text. It accepts
// Python's NaN, Infinity and -Infinity.
func readJSON(text []byte, pointer, unbounded string) (Score, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return Score{}, errors.New("the file is empty")
	}
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	r := pyjson.NewReader(bytes.NewReader(text), pyjson.Options{Exact: true})
	var root any
	if err := r.Only(func() error { return r.Value(&root) }); err != nil {
		return Score{}, fmt.Errorf("the file is not JSON: %w", err)
	}
	bounded, err := numberAt(root, pointer)
	if err != nil {
		return Score{}, err
	}
	found := Score{bounded, bounded}
	if unbounded != "" {
		found.Unbounded, err = numberAt(root, unbounded)
	}
	return found, err
}

// numberAt follows a pointer to a number.
func numberAt(root any, pointer string) (float64, error) {
	value, missing := pyjson.At(root, pointer)
	if missing != "" {
		return 0, fmt.Errorf("the file has no value at %s", shorten(missing))
	}
	switch v := value.(type) {
	case json.Number:
		return parse(v.String()), nil
	case string:
		if word, ok := pyjson.Word(v); ok {
			return parse(word), nil
		}
		return 0, fmt.Errorf("at %s the file has the string %q, which is not a number", pointer, shorten(v))
	case bool:
		return 0, fmt.Errorf("at %s the file has %t, which is not a number", pointer, v)
	}
	return 0, fmt.Errorf("at %s the file has %s, which is not a number", pointer, pyjson.Kind(value))
}
