package pytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// If tests import the submission, it can write the report. So reports are decoded as a
// stream: a text of brackets takes a hundred times its size when it is decoded.

// errNotWhole means that a report ends early, or continues after its end.
var errNotWhole = errors.New("unexpected data after its end")

// eachField calls field for each key of the next object in d. field must decode the
// value and return true, or return false to skip it.
func eachField(d *json.Decoder, field func(key string) (decoded bool, err error)) error {
	if err := delim(d, '{'); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string) // keys are always strings
		decoded, err := field(name)
		if err == nil && !decoded {
			var skipped json.RawMessage
			err = d.Decode(&skipped)
		}
		if err != nil {
			return err
		}
	}
	return delim(d, '}')
}

// eachElement decodes the elements of the next list in d, and calls do for each. null is
// an empty list.
func eachElement[T any](d *json.Decoder, do func(*T) error) error {
	first, err := d.Token()
	if err != nil || first == nil {
		return err
	}
	if first != json.Delim('[') {
		return fmt.Errorf("got %v, want a list", first)
	}
	for d.More() {
		var element T
		if err := d.Decode(&element); err != nil {
			return err
		}
		if err := do(&element); err != nil {
			return err
		}
	}
	return delim(d, ']')
}

func delim(d *json.Decoder, want json.Delim) error {
	t, err := d.Token()
	if err == nil && t != want {
		err = fmt.Errorf("got %v, want %v", t, want)
	}
	return err
}

// atEnd returns an error if anything follows.
func atEnd(d *json.Decoder) error {
	switch _, err := d.Token(); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return errNotWhole
}
