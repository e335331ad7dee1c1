package frozen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
)

var errMalformed = errors.New("malformed frozen value")

// Decode decodes the output of Append into v, which must point to the same type. It copies strings, so that v does not
// keep b in memory.
func Decode(b []byte, v any) error {
	if len(b) < headSize {
		return fmt.Errorf("reading %T: %w", v, errMalformed)
	}
	head := b[:headSize]
	r := reader{rest: b[headSize:]}
	// Each string and each pointer takes at least one byte.
	room := func(n uint64) int { return int(min(n, uint64(len(r.rest)))) }
	r.texts = make([]string, 0, room(binary.LittleEndian.Uint64(head)))
	r.pointers = make([]reflect.Value, 0, room(binary.LittleEndian.Uint64(head[8:])))
	r.value(reflect.ValueOf(v).Elem())
	if r.bad || len(r.rest) > 0 {
		return fmt.Errorf("reading %T: %w", v, errMalformed)
	}
	return nil
}

// reader decodes frozen bytes. After the first invalid part it is bad, and returns zeros.
type reader struct {
	rest     []byte
	bad      bool
	texts    []string
	pointers []reflect.Value
}

func (r *reader) fail() {
	r.bad, r.rest = true, nil
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *reader) number() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 { // the usual case
		x := uint64(r.rest[0])
		r.rest = r.rest[1:]
		return x
	}
	return r.longNumber()
}

func (r *reader) longNumber() uint64 {
	var x uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		c := r.rest[i]
		x |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return x
		}
	}
	r.fail()
	return 0
}

// length returns the number of elements that follow; each takes at least one byte.
func (r *reader) length() (n int, isNil bool) {
	switch x := r.number(); {
	case x == 0:
		return 0, true
	case x-1 > uint64(len(r.rest)):
		r.fail()
		return 0, true
	default:
		return int(x - 1), false
	}
}

func (r *reader) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.number() == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x := r.number()
		v.SetInt(int64(x>>1) ^ -int64(x&1)) // zigzag, as in binary.AppendVarint
	case reflect.Uint8:
		if b := r.take(1); len(b) > 0 {
			v.SetUint(uint64(b[0]))
		}
	case reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.number())
	case reflect.Float32, reflect.Float64:
		var buf [8]byte
		copy(buf[:], r.take(8))
		v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(buf[:])))
	case reflect.String:
		v.SetString(r.text())
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Field(i).CanSet() {
				r.fail()
				return
			}
			r.value(v.Field(i))
		}
	case reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			copy(v.Bytes(), r.take(uint64(v.Len())))
			return
		}
		r.elements(v)
	case reflect.Slice:
		switch n, isNil := r.length(); {
		case isNil:
		case v.Type().Elem().Kind() == reflect.Uint8:
			v.SetBytes(append([]byte{}, r.take(uint64(n))...))
		default:
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			r.elements(v)
		}
	case reflect.Map:
		r.mapping(v)
	case reflect.Pointer:
		r.pointer(v)
	default:
		r.fail()
	}
}

func (r *reader) elements(v reflect.Value) {
	for i := 0; i < v.Len() && !r.bad; i++ {
		r.value(v.Index(i))
	}
}

func (r *reader) text() string {
	n := r.number()
	if n == 0 {
		s := string(r.take(r.number()))
		r.texts = append(r.texts, s)
		return s
	}
	if n > uint64(len(r.texts)) {
		r.fail()
		return ""
	}
	return r.texts[n-1]
}

func (r *reader) mapping(v reflect.Value) {
	n, isNil := r.length()
	if isNil {
		return
	}
	t := v.Type()
	if t.Key().Kind() != reflect.String {
		r.fail()
		return
	}
	v.Set(reflect.MakeMapWithSize(t, n))
	for ; n > 0 && !r.bad; n-- {
		key, element := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		key.SetString(r.text())
		r.value(element)
		v.SetMapIndex(key, element)
	}
}

func (r *reader) pointer(v reflect.Value) {
	switch n := r.number(); {
	case n == 0:
	case n == 1:
		p := reflect.New(v.Type().Elem())
		r.pointers = append(r.pointers, p)
		v.Set(p)
		r.value(p.Elem())
	case n-2 < uint64(len(r.pointers)) && r.pointers[n-2].Type() == v.Type():
		v.Set(r.pointers[n-2])
	default:
		r.fail()
	}
}
