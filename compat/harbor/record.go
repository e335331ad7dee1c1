package harbor

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang"
)

// Limits of what is kept of a record. Trials are not trusted, and what an agent's run
// leaves in a result.json can be as large as the disk.
const (
	maxRecord = 8 << 20  // bytes of a file without what is left out
	maxText   = 64 << 10 // bytes of one string
	maxDepth  = 200
)

// bulky are the members of records that can be huge and that nothing here needs.
var bulky = []string{"rollout_details"}

// readRecord decodes a JSON file of a job without what is bulky in it.
func readRecord(files *lang.ReaderFiles, path string, into any) error {
	file, err := files.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return decodeRecord(file, into)
}

func decodeRecord(r io.Reader, into any) error {
	text, err := condensed(r)
	if err != nil {
		return err
	}
	err = json.Unmarshal(text, into)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("%s is of type %s", cmp.Or(wrong.Field, "the whole"), wrong.Value)
	}
	return err
}

// condensed returns the JSON of r with null for large values, and with strings cut short. It holds at most
// one string of r in memory, and of that only the part that is kept.
func condensed(r io.Reader) ([]byte, error) {
	c := condenser{in: bufio.NewReaderSize(r, 64<<10)}
	if err := c.value(true, 0); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("bad JSON: %w", err)
	}
	if b, err := c.next(); err == nil {
		return nil, fmt.Errorf("bad JSON: unexpected %q after the value", b)
	}
	return c.out.Bytes(), nil
}

type condenser struct {
	in   *bufio.Reader
	out  bytes.Buffer
	unit [6]byte // of a string: a byte, or an escape
	last []byte  // the last word
}

// write adds what is kept.
func (c *condenser) write(keep bool, b ...byte) error {
	if !keep {
		return nil
	}
	if c.out.Len()+len(b) > maxRecord {
		return fmt.Errorf("it is larger than %d MiB", maxRecord>>20)
	}
	c.out.Write(b)
	return nil
}

// next returns the next byte that is not a space.
func (c *condenser) next() (byte, error) {
	for {
		b, err := c.in.ReadByte()
		if err != nil || b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			return b, err
		}
	}
}

func (c *condenser) value(keep bool, depth int) error {
	if depth > maxDepth {
		return errors.New("it is nested too deeply")
	}
	b, err := c.next()
	if err != nil {
		return err
	}
	switch b {
	case '{':
		return c.list(keep, b, '}', func(first byte) error { return c.member(first, keep, depth) })
	case '[':
		return c.list(keep, b, ']', func(byte) error {
			if err := c.in.UnreadByte(); err != nil {
				return err
			}
			return c.value(keep, depth+1)
		})
	case '"':
		_, err = c.text(keep)
		return err
	}
	return c.word(keep, b)
}

// list copies what stands between brackets; one reads an element, which begins with a byte
// that was read.
func (c *condenser) list(keep bool, from, to byte, one func(first byte) error) error {
	if err := c.write(keep, from); err != nil {
		return err
	}
	for n := 0; ; n++ {
		b, err := c.next()
		switch {
		case err != nil:
			return err
		case b == to:
			return c.write(keep, to)
		case n > 0 && b != ',':
			return fmt.Errorf("%q stands for a comma", b)
		case n > 0:
			if err := c.write(keep, ','); err != nil {
				return err
			}
			if b, err = c.next(); err != nil {
				return err
			}
		}
		if err := one(b); err != nil {
			return err
		}
	}
}

// member copies a name and its value.
func (c *condenser) member(first byte, keep bool, depth int) error {
	if first != '"' {
		return fmt.Errorf("%q stands for a name", first)
	}
	name, err := c.text(keep)
	if err != nil {
		return err
	}
	switch b, err := c.next(); {
	case err != nil:
		return err
	case b != ':':
		return fmt.Errorf("%q stands for a colon", b)
	}
	if err := c.write(keep, ':'); err != nil {
		return err
	}
	if keep && slices.Contains(bulky, name) {
		if err := c.write(true, []byte("null")...); err != nil {
			return err
		}
		keep = false
	}
	return c.value(keep, depth+1)
}

// text copies a string, whose first quote was read, and returns it as it is written.
func (c *condenser) text(keep bool) (string, error) {
	if err := c.write(keep, '"'); err != nil {
		return "", err
	}
	start, n := c.out.Len(), 0
	for {
		b, err := c.in.ReadByte()
		if err != nil {
			return "", err
		}
		c.unit[0] = b
		unit := c.unit[:1]
		switch {
		case b == '"':
			written := ""
			if keep {
				written = string(c.out.Bytes()[start:])
			}
			return written, c.write(keep, '"')
		case b == '\\':
			more := 1
			if next, err := c.in.Peek(1); err == nil && next[0] == 'u' {
				more = 5
			}
			unit = c.unit[:1+more]
			if _, err := io.ReadFull(c.in, unit[1:]); err != nil {
				return "", err
			}
		}
		if n += len(unit); n > maxText {
			continue
		}
		if err := c.write(keep, unit...); err != nil {
			return "", err
		}
	}
}

// word copies a number, true, false or null, whose first byte was read.
func (c *condenser) word(keep bool, first byte) error {
	c.last = append(c.last[:0], first)
	for {
		b, err := c.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return c.write(keep, c.last...)
		}
		if err != nil {
			return err
		}
		if strings.IndexByte(",]} \t\r\n", b) >= 0 {
			if err := c.in.UnreadByte(); err != nil {
				return err
			}
			return c.write(keep, c.last...)
		}
		if c.last = append(c.last, b); len(c.last) > 400 {
			return errors.New("a number is too long")
		}
	}
}
