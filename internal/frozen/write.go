package frozen

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Append appends the frozen form of what v points to. It returns an error for unsupported values, such as
// structs with unexported fields.
func Append(b []byte, v any) ([]byte, error) {
	head := len(b)
	w := writer{b: append(b, make([]byte, headSize)...), texts: map[string]uint64{}, pointers: map[pointer]uint64{}}
	if err := w.value(reflect.ValueOf(v).Elem()); err != nil {
		return nil, fmt.Errorf("freezing %T: %w", v, err)
	}
	binary.LittleEndian.PutUint64(w.b[head:], uint64(len(w.texts)))
	binary.LittleEndian.PutUint64(w.b[head+8:], uint64(len(w.pointers)))
	return w.b, nil
}

// Fingerprint appends a form of what v points to that serves only for comparison: equal values have equal
// forms. It skips structs of the types in omit, and represents a pointer with a method Source by the string
// that the method returns.
func Fingerprint(b []byte, v any, omit ...reflect.Type) ([]byte, error) {
	w := writer{b: b, texts: map[string]uint64{}, pointers: map[pointer]uint64{}, compares: true, omit: omit}
	if err := w.value(reflect.ValueOf(v).Elem()); err != nil {
		return nil, fmt.Errorf("taking the fingerprint of a %T: %w", v, err)
	}
	return w.b, nil
}

// headSize is the size of the header, which contains the numbers of strings and pointers, so that a reader can
// allocate them once.
const headSize = 2 * 8

// pointer identifies a pointer by address and type: the first field of a struct has the struct's address.
type pointer struct {
	at uintptr
	to reflect.Type
}

type writer struct {
	b        []byte
	texts    map[string]uint64
	pointers map[pointer]uint64
	compares bool           // see Fingerprint
	omit     []reflect.Type // see Fingerprint
}

func (w *writer) number(n uint64) { w.b = binary.AppendUvarint(w.b, n) }

func (w *writer) value(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		n := uint64(0)
		if v.Bool() {
			n = 1
		}
		w.number(n)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.b = binary.AppendVarint(w.b, v.Int())
	case reflect.Uint8:
		w.b = append(w.b, byte(v.Uint()))
	case reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.number(v.Uint())
	case reflect.Float32, reflect.Float64:
		w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(v.Float()))
	case reflect.String:
		w.text(v.String())
	case reflect.Struct:
		return w.fields(v)
	case reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 && v.CanAddr() {
			w.b = append(w.b, v.Bytes()...)
			return nil
		}
		return w.elements(v)
	case reflect.Slice:
		if v.IsNil() {
			w.number(0)
			return nil
		}
		w.number(uint64(v.Len()) + 1)
		if v.Type().Elem().Kind() == reflect.Uint8 {
			w.b = append(w.b, v.Bytes()...)
			return nil
		}
		return w.elements(v)
	case reflect.Map:
		return w.mapping(v)
	case reflect.Pointer:
		if text, ok := v.Interface().(interface{ Source() string }); ok && w.compares && !v.IsNil() {
			w.text(text.Source())
			return nil
		}
		return w.pointer(v)
	default:
		return fmt.Errorf("a %s", v.Type())
	}
	return nil
}

// text writes a string the first time, and later its number. Number 0 begins a new one.
func (w *writer) text(s string) {
	if n, known := w.texts[s]; known {
		w.number(n)
		return
	}
	w.texts[s] = uint64(len(w.texts)) + 1
	w.number(0)
	w.number(uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) fields(v reflect.Value) error {
	t := v.Type()
	if slices.Contains(w.omit, t) {
		return nil
	}
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			return fmt.Errorf("the field %s of %s is not exported", t.Field(i).Name, t)
		}
		if err := w.value(v.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", t.Field(i).Name, err)
		}
	}
	return nil
}

func (w *writer) elements(v reflect.Value) error {
	for i := range v.Len() {
		if err := w.value(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) mapping(v reflect.Value) error {
	if v.Type().Key().Kind() != reflect.String {
		return fmt.Errorf("a %s", v.Type())
	}
	if v.IsNil() {
		w.number(0)
		return nil
	}
	w.number(uint64(v.Len()) + 1)
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		w.text(key.String())
		if err := w.value(v.MapIndex(key)); err != nil {
			return err
		}
	}
	return nil
}

// pointer writes 0 for nil; 1 and the value the first time; and later the value's number, from 2.
func (w *writer) pointer(v reflect.Value) error {
	if v.IsNil() {
		w.number(0)
		return nil
	}
	p := pointer{v.Pointer(), v.Type()}
	if n, known := w.pointers[p]; known {
		w.number(n)
		return nil
	}
	w.pointers[p] = uint64(len(w.pointers)) + 2
	w.number(1)
	return w.value(v.Elem())
}
