package score

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
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
func numberAt(value any, pointer string) (float64, error) {
	at := ""
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		name := strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		next, ok := child(value, name)
		if !ok {
			return 0, fmt.Errorf("the file has no value at %s", shorten(at+"/"+step))
		}
		value, at = next, at+"/"+step
	}
	switch v := value.(type) {
	case json.Number:
		return parse(v.String()), nil
	case string:
		if word, ok := pyjson.Word(v); ok {
			return parse(word), nil
		}
		return 0, fmt.Errorf("at %s the file has the string %q, which is not a number", pointer, shorten(v))
	case nil:
		return 0, fmt.Errorf("at %s the file has null", pointer)
	case bool:
		return 0, fmt.Errorf("at %s the file has %t, which is not a number", pointer, v)
	}
	return 0, fmt.Errorf("at %s the file has no number but a list or an object", pointer)
}

func child(value any, name string) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		next, ok := v[name]
		return next, ok
	case []any:
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(v) || strconv.Itoa(i) != name {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}
