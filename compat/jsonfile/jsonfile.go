// Package jsonfile reads JSON of any length value by value, as Python's programs write it. It keeps one
// value in memory, and errors have locations.
package jsonfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// MaxValue bounds a value that is read as a whole, in bytes.
const MaxValue = 64 << 20

// Reader reads one JSON value and its parts. The numbers that JSON lacks, which Python writes as
// NaN, Infinity and -Infinity, are read as null.
type Reader struct {
	words *wordReader
	dec   *json.Decoder
	place []string
}

// New returns a reader of the only value in r.
func New(r io.Reader) *Reader {
	words := newWordReader(r, 64<<10)
	return &Reader{words: words, dec: json.NewDecoder(words)}
}

// newWordReader returns a reader that skips the byte order mark which programs of Windows write.
func newWordReader(r io.Reader, buffer int) *wordReader {
	const mark = "\ufeff"
	in := bufio.NewReaderSize(r, buffer)
	if head, _ := in.Peek(len(mark)); string(head) == mark {
		in.Discard(len(mark)) // it was peeked at
	}
	return &wordReader{in: in, left: MaxValue}
}

// Object reads an object. For each key, member must read the value.
func (r *Reader) Object(member func(key string) error) error {
	return r.parts('{', "an object", func(int) error {
		token, err := r.token()
		if err != nil {
			return err
		}
		key := token.(string) // the decoder allows no other key
		r.place = append(r.place, key)
		return member(key)
	})
}

// Array reads an array, whose elements element must read.
func (r *Reader) Array(element func(i int) error) error {
	return r.parts('[', "an array", func(i int) error {
		r.place = append(r.place, strconv.Itoa(i))
		return element(i)
	})
}

func (r *Reader) parts(open json.Delim, want string, part func(i int) error) error {
	token, err := r.token()
	if err != nil {
		return err
	}
	if token != open {
		return r.Fail("want %s", want)
	}
	depth := len(r.place)
	for i := 0; r.dec.More(); i++ {
		if err := part(i); err != nil {
			return err
		}
		r.place = r.place[:depth]
	}
	_, err = r.token()
	return err
}

// Value decodes a value of at most MaxValue bytes.
func (r *Reader) Value(into any) error {
	r.words.left = MaxValue
	if err := r.dec.Decode(into); err != nil {
		return r.wrap(err)
	}
	return nil
}

// Skip reads past a value. Of an array or an object, only each part must be within MaxValue.
func (r *Reader) Skip() error {
	token, err := r.token()
	if err != nil {
		return err
	}
	delim, nested := token.(json.Delim)
	if !nested {
		return nil
	}
	for r.dec.More() {
		if delim == '{' {
			if _, err := r.token(); err != nil {
				return err
			}
		}
		var raw json.RawMessage
		if err := r.Value(&raw); err != nil {
			return err
		}
	}
	_, err = r.token()
	return err
}

// End reads to the end of the file, where nothing else can follow.
func (r *Reader) End() error {
	r.words.left = MaxValue
	switch token, err := r.dec.Token(); {
	case err == nil:
		return r.Fail("unexpected %v after the end", token)
	case !errors.Is(err, io.EOF):
		return r.wrap(err)
	}
	return nil
}

// Fail returns an error with the place that is read.
func (r *Reader) Fail(format string, args ...any) error {
	return r.wrap(fmt.Errorf(format, args...))
}

func (r *Reader) token() (json.Token, error) {
	r.words.left = MaxValue
	token, err := r.dec.Token()
	if err != nil {
		return nil, r.wrap(err)
	}
	return token, nil
}

func (r *Reader) wrap(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("unexpected end of the file")
	}
	place := r.place
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		err = fmt.Errorf("want %s, not %s", article(wrong.Type.Kind()), wrong.Value)
		if wrong.Field != "" {
			place = append(slices.Clone(place), wrong.Field)
		}
	}
	if len(place) > 0 {
		return fmt.Errorf("at %q: %w", strings.Join(place, "."), err)
	}
	return err
}

// article names the JSON that a Go value of a kind is decoded from.
func article(kind reflect.Kind) string {
	switch kind {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

var errLarge = fmt.Errorf("a value is larger than %d MiB", MaxValue>>20)

// wordReader passes JSON on, with null instead of Python's words for numbers, and one byte of
// white space instead of many: json.Decoder takes quadratic time for these.
type wordReader struct {
	in       *bufio.Reader
	left     int    // bytes until a value is too large
	pending  string // passed on next
	text     bool   // within a text
	escaping bool
	space    bool  // the last byte was white space
	err      error // of all further reads
}

func (w *wordReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && w.err == nil {
		if w.pending != "" {
			k := copy(p[n:], w.pending)
			w.pending, n = w.pending[k:], n+k
			continue
		}
		if n > 0 && w.in.Buffered() == 0 {
			break
		}
		c, err := w.in.ReadByte()
		if w.left--; err == nil && w.left < 0 {
			err = errLarge
		}
		if err != nil {
			w.err = err
			break
		}
		space := !w.text && (c == ' ' || c == '\n' || c == '\r' || c == '\t')
		if space && w.space {
			continue
		}
		w.space = space
		switch {
		case w.escaping:
			w.escaping = false
		case w.text && c == '\\':
			w.escaping = true
		case c == '"':
			w.text = !w.text
		case !w.text && (c == 'N' || c == 'I' || c == '-'):
			if word := w.word(c); word != "" {
				w.in.Discard(len(word)) // it was peeked at
				w.pending = "null"
				continue
			}
		}
		p[n] = c
		n++
	}
	if n > 0 {
		return n, nil
	}
	return 0, w.err
}

// word returns what follows c if both are a word.
func (w *wordReader) word(c byte) string {
	rest := map[byte]string{'N': "aN", 'I': "nfinity", '-': "Infinity"}[c]
	if got, _ := w.in.Peek(len(rest)); string(got) != rest {
		return ""
	}
	return rest
}

// Keys returns the keys of the object that a text begins with, and those of the first object in it,
// as "key.inner". The text can end anywhere.
func Keys(head []byte) map[string]bool {
	keys := map[string]bool{}
	dec := json.NewDecoder(newWordReader(bytes.NewReader(head), len(head)))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return keys
	}
	for dec.More() {
		token, err := dec.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			break
		}
		keys[key] = true
		if !skipHead(dec, func(inner string) {
			if len(keys) < 100 {
				keys[key+"."+inner] = true
			}
		}) {
			break
		}
	}
	return keys
}

// skipHead reads past a value, telling the keys of an object. It reports whether the value is whole.
func skipHead(dec *json.Decoder, tell func(key string)) bool {
	token, err := dec.Token()
	if err != nil {
		return false
	}
	delim, nested := token.(json.Delim)
	for nested && dec.More() {
		if delim == '{' {
			token, err := dec.Token()
			if err != nil {
				return false
			}
			tell(token.(string))
		}
		if !skipHead(dec, func(string) {}) {
			return false
		}
	}
	if nested {
		_, err = dec.Token()
	}
	return err == nil
}

// Lines reads a file with a JSON value on each line that is not blank. value must read it.
func Lines(in io.Reader, value func(r *Reader) error) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for n := 1; ; n++ {
		line, err := wholeLine(lines)
		if err != nil && err != io.EOF {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if text := strings.TrimSpace(line); text != "" {
			r := New(strings.NewReader(text))
			failed := value(r)
			if failed == nil {
				failed = r.End()
			}
			if failed != nil {
				return fmt.Errorf("line %d: %w", n, failed)
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// wholeLine reads a line of at most MaxValue bytes.
func wholeLine(in *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > MaxValue {
			return "", errLarge
		}
		if err != bufio.ErrBufferFull {
			return string(line), err
		}
	}
}
