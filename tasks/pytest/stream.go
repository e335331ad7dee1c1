package pytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A report is a submission's to write, as far as tests import it. So it is read piece by
// piece: what a decoder makes of a text of brackets is a hundred times as large.

// errNotWhole is about a report that ends early, or has something after its end.
var errNotWhole = errors.New("something follows its end")

// eachField calls field for each key of the object that comes next in d. It decodes the
// value and returns true, or leaves it to be skipped.
func eachField(d *json.Decoder, field func(key string) (decoded bool, err error)) error {
	if err := delim(d, '{'); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string) // keys are nothing else
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

// eachElement decodes the elements of the list that comes next in d, and calls do for
// each of them. null is an empty list.
func eachElement[T any](d *json.Decoder, do func(*T) error) error {
	first, err := d.Token()
	if err != nil || first == nil {
		return err
	}
	if first != json.Delim('[') {
		return fmt.Errorf("expected a list, got %v", first)
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
		err = fmt.Errorf("it has %v instead of %v", t, want)
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
