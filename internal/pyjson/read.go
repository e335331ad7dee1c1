package pyjson

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

// Options select what a Reader keeps. The zero value keeps everything.
type Options struct {
	Max  int      // bytes of a value that is read as a whole; 0 means MaxValue
	Text int      // bytes after which a text is cut off; 0 means no limit
	Omit []string // keys whose values are read as null, whatever their size
	// Exact reads numbers that are decoded as any as json.Number, and the numbers that JSON lacks as texts for Word
	// instead of null.
	Exact bool
}

// Reader reads one JSON value and its parts. An error, also of a caller's function, has the location of the part that
// was read.
type Reader struct {
	in   *scanner
	dec  *json.Decoder
	path []string
}

// NewReader returns a reader of the only value in r.
func NewReader(r io.Reader, o Options) *Reader {
	if o.Max == 0 {
		o.Max = MaxValue
	}
	in := &scanner{Options: o, in: bufio.NewReaderSize(r, 16<<10), left: o.Max}
	const mark = "\ufeff" // which programs of Windows write
	if head, _ := in.in.Peek(len(mark)); string(head) == mark {
		in.in.Discard(len(mark)) // it was peeked at
	}
	dec := json.NewDecoder(in)
	if o.Exact {
		dec.UseNumber()
	}
	return &Reader{in: in, dec: dec}
}

// Object reads an object. For each key, member must read the value.
func (r *Reader) Object(member func(key string) error) error {
	return r.parts('{', "an object", func(int) error {
		token, err := r.token()
		if err != nil {
			return err
		}
		key := token.(string) // the decoder allows no other key
		r.path = append(r.path, key)
		return member(key)
	})
}

// Array reads an array, whose elements element must read.
func (r *Reader) Array(element func(i int) error) error {
	return r.parts('[', "an array", func(i int) error {
		r.path = append(r.path, strconv.Itoa(i))
		return element(i)
	})
}

func (r *Reader) parts(open json.Delim, want string, part func(i int) error) error {
	token, err := r.token()
	if err != nil {
		return err
	}
	if token != open {
		return r.locate(fmt.Errorf("want %s, not %s", want, Kind(token)))
	}
	depth := len(r.path)
	for i := 0; r.dec.More(); i++ {
		if err := part(i); err != nil {
			return r.locate(err)
		}
		r.path = r.path[:depth]
	}
	_, err = r.token()
	return err
}

// Kind names the kind of a decoded value or of the first token of one.
func Kind(value any) string {
	switch value {
	case nil:
		return "null"
	case json.Delim('{'):
		return "an object"
	case json.Delim('['):
		return "an array"
	}
	if _, is := value.(json.Number); is {
		return "a number"
	}
	return article(reflect.TypeOf(value).Kind())
}

// At returns what is found at a JSON pointer in a decoded value, or the shortest prefix of the pointer whose value is
// missing.
func At(value any, pointer string) (found any, missing string) {
	steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for n, step := range steps {
		known := false
		switch v := value.(type) {
		case map[string]any:
			value, known = v[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
		case []any:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v) && strconv.Itoa(i) == step {
				value, known = v[i], true
			}
		}
		if !known {
			return nil, "/" + strings.Join(steps[:n+1], "/")
		}
	}
	return value, ""
}

// Value decodes a value of at most Options.Max bytes.
func (r *Reader) Value(into any) error {
	r.in.left = r.in.Max
	if err := r.dec.Decode(into); err != nil {
		return r.locate(err)
	}
	return nil
}

// Skip reads past a value. Of an array or an object, only each part must be within the limit of a value.
func (r *Reader) Skip() error { return r.skip(func(string) {}) }

// skip calls each for the keys of an object.
func (r *Reader) skip(each func(key string)) error {
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
			key, err := r.token()
			if err != nil {
				return err
			}
			each(key.(string))
		}
		var raw json.RawMessage
		if err := r.Value(&raw); err != nil {
			return err
		}
	}
	_, err = r.token()
	return err
}

// Only reads a value by a function to the end of the file, where nothing else can follow.
func (r *Reader) Only(read func() error) error {
	if err := read(); err != nil {
		return r.locate(err)
	}
	r.in.left = r.in.Max
	switch _, err := r.dec.Token(); {
	case err == nil:
		return errors.New("unexpected data after the end")
	case !errors.Is(err, io.EOF):
		return r.locate(err)
	}
	return nil
}

func (r *Reader) token() (json.Token, error) {
	r.in.left = r.in.Max
	token, err := r.dec.Token()
	if err != nil {
		return nil, r.locate(err)
	}
	return token, nil
}

// located is an error that has a location.
type located struct{ error }

// locate returns err with the location that is read, unless it has one.
func (r *Reader) locate(err error) error {
	if known := (located{}); errors.As(err, &known) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("unexpected end of the file")
	}
	path := r.path
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		err = fmt.Errorf("want %s, not %s", article(wrong.Type.Kind()), wrong.Value)
		if wrong.Field != "" {
			path = append(slices.Clone(path), wrong.Field)
		}
	}
	if len(path) > 0 {
		err = fmt.Errorf("at %q: %w", strings.Join(path, "."), err)
	}
	return located{err}
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

// scanner passes JSON on: the part that Options keep, null or texts instead of Python's words for numbers, and one byte
// of white space instead of many, for which json.Decoder takes quadratic time.
type scanner struct {
	Options
	in      *bufio.Reader
	left    int    // bytes until a value is too large
	pending string // passed on next
	space   bool   // the last byte was white space
	text    bool   // within a text
	escape  int    // bytes of an escape that are left
	last    []byte // the begin of the last text
	size    int    // bytes of it
	depth   int    // open objects and arrays
	omitted int    // depth of an omitted value; 0 means none
	err     error  // of all further reads
}

// Read implements io.Reader.
func (s *scanner) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && s.err == nil {
		if s.pending != "" {
			k := copy(p[n:], s.pending)
			s.pending, n = s.pending[k:], n+k
			continue
		}
		if n > 0 && s.in.Buffered() == 0 {
			break
		}
		c, err := s.in.ReadByte()
		if err != nil {
			s.err = err
			break
		}
		if s.keeps(c) {
			p[n] = c
			n++
		}
		if s.omitted == 0 && !(s.text && s.cuts()) {
			s.left--
		}
		if s.left < 0 {
			s.err = fmt.Errorf("a value is larger than %d MiB", s.Max>>20)
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, s.err
}

func (s *scanner) cuts() bool { return s.Text > 0 && s.size > s.Text }

// keeps notes a byte and reports whether it is passed on.
func (s *scanner) keeps(c byte) bool {
	space := !s.text && (c == ' ' || c == '\n' || c == '\r' || c == '\t')
	if space && s.space {
		return false
	}
	s.space = space
	switch {
	case s.escape > 0:
		s.escape--
		return s.omitted == 0 && !s.cuts()
	case s.text && c == '"':
		s.text = false
		return s.omitted == 0
	case s.text:
		if s.size++; c == '\\' { // an escape is kept or cut as a whole
			next, _ := s.in.Peek(1)
			if s.escape = 1; string(next) == "u" {
				s.escape = 5
			}
			s.size += s.escape
		}
		if len(s.last) < 64 {
			s.last = append(s.last, c)
		}
		return s.omitted == 0 && !s.cuts()
	case c == '"':
		s.text, s.last, s.size = true, s.last[:0], 0
	case c == '{' || c == '[':
		s.depth++
	case c == ',' || c == '}' || c == ']':
		if s.depth == s.omitted {
			s.omitted = 0
		}
		if c != ',' {
			s.depth--
		}
	case c == ':' && s.omitted == 0 && slices.Contains(s.Omit, string(s.last)):
		s.omitted, s.pending = s.depth, "null"
		return true
	case s.omitted == 0 && (c == 'N' || c == 'I' || c == '-'):
		return !s.word(c)
	}
	return s.omitted == 0
}

// word replaces one of Python's words for a number that begins with c.
func (s *scanner) word(c byte) bool {
	rest := map[byte]string{'N': "aN", 'I': "nfinity", '-': "Infinity"}[c]
	if got, _ := s.in.Peek(len(rest)); string(got) != rest {
		return false
	}
	s.in.Discard(len(rest)) // it was peeked at
	if s.pending = "null"; s.Exact {
		s.pending = quoted(string(c) + rest)
	}
	return true
}

// Keys returns the keys of the object that a text begins with, and those of the first object in it,
// as "key.inner". The text can end anywhere.
func Keys(head []byte) map[string]bool {
	keys := map[string]bool{}
	r := NewReader(bytes.NewReader(head), Options{})
	_ = r.Object(func(key string) error { // it can end anywhere
		keys[key] = true
		return r.skip(func(inner string) {
			if len(keys) < 100 {
				keys[key+"."+inner] = true
			}
		})
	})
	return keys
}

// Lines reads a file with a JSON value on each line that is not blank. value must read it.
func Lines(in io.Reader, value func(r *Reader) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, MaxValue)
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		r := NewReader(bytes.NewReader(text), Options{})
		if err := r.Only(func() error { return value(r) }); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("line %d: a value is larger than %d MiB", n+1, MaxValue>>20)
	case err != nil:
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	return nil
}
