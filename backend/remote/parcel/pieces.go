package parcel

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Pieces writes a stream to files of at most PieceSize bytes in a directory, named by their
// position: "0", "1" and so on. It must be used by one goroutine at a time.
type Pieces struct {
	dir  string
	done []cache.Digest
	file *os.File // nil between pieces
	sum  hash.Hash
	size int64 // of the current piece
}

// NewPieces returns an empty stream. The directory is made with the first byte.
func NewPieces(dir string) *Pieces { return &Pieces{dir: dir} }

// Write implements io.Writer.
func (p *Pieces) Write(b []byte) (written int, err error) {
	for len(b) > 0 {
		if p.file == nil {
			if err := p.begin(); err != nil {
				return written, err
			}
		}
		n, err := p.file.Write(b[:min(int64(len(b)), PieceSize-p.size)])
		p.sum.Write(b[:n])
		p.size += int64(n)
		written += n
		if b = b[n:]; err != nil {
			return written, err
		}
		if p.size == PieceSize {
			if err := p.end(); err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

func (p *Pieces) begin() (err error) {
	if err = os.MkdirAll(p.dir, 0o755); err == nil {
		p.file, err = os.OpenFile(p.name(len(p.done)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	}
	p.sum, p.size = sha256.New(), 0
	return err
}

func (p *Pieces) name(n int) string { return filepath.Join(p.dir, fmt.Sprint(n)) }

func (p *Pieces) end() error {
	d := cache.Digest{Size: p.size}
	p.sum.Sum(d.Hash[:0])
	p.done = append(p.done, d)
	err := p.file.Close()
	p.file = nil
	return err
}

// cut ends the current piece.
func (p *Pieces) cut() error {
	if p.file == nil {
		return nil
	}
	return p.end()
}

// place returns the position of the next byte: the number of a piece, and the offset in it.
func (p *Pieces) place() (piece int, at int64) {
	if p.file == nil {
		return len(p.done), 0
	}
	return len(p.done), p.size
}

// Close ends the stream and returns its pieces.
func (p *Pieces) Close() ([]cache.Digest, error) {
	err := p.cut()
	return p.done, err
}

// Source provides pieces, and content by digest. Its readers can start at any offset.
type Source interface {
	// Piece opens a piece.
	Piece(d cache.Digest) (io.ReadCloser, error)
	// Content opens content that is in no piece.
	Content(d cache.Digest) (io.ReadCloser, error)
}

// Open returns the content of a file of the parcel. The content is verified while it is
// read: at the end of other content, the reader returns an error.
func (x *Index) Open(e *Entry, from Source) (io.ReadCloser, error) {
	if e.Kind != File {
		return nil, fmt.Errorf("%q is not a file of the parcel", e.Path)
	}
	if e.Piece < 0 {
		return from.Content(e.Digest)
	}
	return &content{x: x, from: from, piece: e.Piece, skip: e.At, left: e.Digest.Size, want: e.Digest, sum: sha256.New()}, nil
}

// content reads a file from pieces.
type content struct {
	x     *Index
	from  Source
	piece int // number of the next piece
	skip  int64
	left  int64
	open  io.ReadCloser
	sum   hash.Hash
	want  cache.Digest
}

func (c *content) Read(p []byte) (int, error) {
	for {
		if c.left == 0 {
			return 0, c.verify()
		}
		if c.open == nil {
			if err := c.next(); err != nil {
				return 0, err
			}
		}
		n, err := c.open.Read(p[:min(int64(len(p)), c.left)])
		c.left -= int64(n)
		c.sum.Write(p[:n])
		if errors.Is(err, io.EOF) {
			err = errors.Join(c.open.Close())
			c.open = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// next opens the next piece, where the file continues.
func (c *content) next() (err error) {
	if c.piece >= len(c.x.Pieces) {
		return io.ErrUnexpectedEOF
	}
	if c.open, err = c.from.Piece(c.x.Pieces[c.piece]); err != nil {
		return err
	}
	c.piece++
	if seeker, ok := c.open.(io.Seeker); ok && c.skip > 0 {
		_, err = seeker.Seek(c.skip, io.SeekStart)
	} else if c.skip > 0 {
		_, err = io.CopyN(io.Discard, c.open, c.skip)
	}
	c.skip = 0
	return err
}

func (c *content) verify() error {
	got := cache.Digest{Size: c.want.Size}
	c.sum.Sum(got.Hash[:0])
	if got != c.want {
		return &cache.CorruptError{Digest: c.want}
	}
	return io.EOF
}

func (c *content) Close() error {
	if c.open == nil {
		return nil
	}
	return c.open.Close()
}
