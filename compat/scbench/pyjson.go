package scbench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"

	"github.com/fevalgraph/fevalgraph/internal/pyjson"
)

// float is a number that Python wrote as a float: it always has a point or an
// exponent.
type float float64

// MarshalJSON implements json.Marshaler. Numbers that are not finite are an
// error: Python writes names for them that are not JSON, and nothing that is
// measured here is one.
func (f float) MarshalJSON() ([]byte, error) { return []byte(pyjson.Float(float64(f))), nil }

// encode writes v as json.dumps would; indent is "" for one line.
func encode(v any, indent string) ([]byte, error) {
	text, err := marshal(v)
	if err != nil {
		return nil, err
	}
	var laidOut bytes.Buffer
	if err := json.Indent(&laidOut, text, "", indent); err != nil {
		return nil, err
	}
	if text = laidOut.Bytes(); indent == "" {
		text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(",\n"), []byte(", ")), []byte("\n"), nil) // texts have no newline
	}
	return ascii(text), nil
}

// marshal encodes as json.Marshal does, without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// ascii escapes everything outside of printable ASCII, as json.dumps does by
// default. Other control characters are escaped already.
func ascii(text []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case r < 0x7f:
			b.WriteByte(byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// ordered is an object whose keys keep the order in which they were set.
type ordered[V any] struct {
	keys   []string
	values map[string]V
}

func newOrdered[V any]() *ordered[V] { return &ordered[V]{values: map[string]V{}} }

func (o *ordered[V]) get(key string) (V, bool) {
	v, ok := o.values[key]
	return v, ok
}

func (o *ordered[V]) set(key string, v V) {
	if _, known := o.values[key]; !known {
		o.keys = append(o.keys, key)
	}
	o.values[key] = v
}

// MarshalJSON implements json.Marshaler.
func (o *ordered[V]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, key := range o.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := marshal(key)
		if err != nil {
			return nil, err
		}
		value, err := marshal(o.values[key])
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
