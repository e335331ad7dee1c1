package parcel

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"

	"github.com/fevalgraph/fevalgraph/cache"
)

const (
	// maxDepth limits the depth of nested directories, since each level takes a descriptor.
	maxDepth = 1000
	// maxEntries limits the number of files. An entry takes some hundred bytes.
	maxEntries = 2_000_000
	// modes are the packed bits of a mode.
	modes = 0o7777
)

// packer packs one parcel.
type packer struct {
	o      Options
	x      *Index
	pieces *Pieces
	first  int // number of the first written piece
	where  map[cache.Digest]place
	linked map[inode]string
	size   int64
	buffer []byte
}

type place struct {
	piece int
	at    int64
}

type inode struct{ device, number uint64 }

// Pack packs directories below root. It writes content that the other machine lacks to pieces, and closes
// them. It changes modes of directories and files to be able to read them, so they are unusable
// afterwards.
func Pack(root *os.Root, pieces *Pieces, o Options) (*Index, error) {
	p := &packer{o: o, x: &Index{}, pieces: pieces, where: map[cache.Digest]place{}, linked: map[inode]string{}, buffer: make([]byte, 64<<10)}
	if o.Before != nil {
		p.x.Pieces = slices.Clone(o.Before.Pieces)
		for _, e := range o.Before.Entries {
			if e.Kind == File && e.Piece >= 0 {
				p.where[e.Digest] = place{e.Piece, e.At}
			}
		}
	}
	p.first = len(p.x.Pieces)
	for _, part := range o.Parts {
		info, err := root.Lstat(part)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = p.entry(root, part, part, info, 0)
		}
		if err != nil {
			return nil, err
		}
	}
	added, err := pieces.Close()
	p.x.Pieces = append(p.x.Pieces, added...)
	return p.x, err
}

// entry packs the file name in the directory at.
func (p *packer) entry(at *os.Root, name, full string, info fs.FileInfo, depth int) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%q has no state", full)
	}
	e := Entry{Path: full, Mode: uint32(stat.Mode) & modes, Time: info.ModTime().UnixNano(), Piece: -1}
	if len(p.x.Entries) >= maxEntries || depth > maxDepth {
		p.x.OmittedEntries++
		return nil
	}
	switch info.Mode().Type() {
	case fs.ModeDir:
		e.Kind = Directory
		p.x.Entries = append(p.x.Entries, e)
		return p.directory(at, name, full, info, depth)
	case fs.ModeSymlink:
		target, err := at.Readlink(name)
		if err != nil {
			return err
		}
		e.Kind, e.Target = Symlink, target
	case fs.ModeNamedPipe:
		e.Kind = FIFO
	case fs.ModeSocket:
		e.Kind = Socket
	case 0:
		if carried, err := p.file(at, name, info, stat, &e); err != nil || !carried {
			return err
		}
	default: // a device
		return nil
	}
	p.x.Entries = append(p.x.Entries, e)
	return nil
}

// directory packs the content of a directory. It is opened before its entries are examined, so that long
// paths work.
func (p *packer) directory(at *os.Root, name, full string, info fs.FileInfo, depth int) error {
	if info.Mode().Perm()&0o700 != 0o700 {
		if err := at.Chmod(name, 0o700); err != nil {
			return err
		}
	}
	sub, err := at.OpenRoot(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	self, err := sub.Open(".")
	if err != nil {
		return err
	}
	names, err := self.Readdirnames(-1)
	if err = errors.Join(err, self.Close()); err != nil {
		return err
	}
	slices.Sort(names)
	for _, below := range names {
		info, err := sub.Lstat(below)
		if err == nil {
			err = p.entry(sub, below, path.Join(full, below), info, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file packs a regular file, or a reference to its content.
func (p *packer) file(at *os.Root, name string, info fs.FileInfo, stat *syscall.Stat_t, e *Entry) (carried bool, err error) {
	if stat.Nlink > 1 {
		id := inode{uint64(stat.Dev), uint64(stat.Ino)}
		if first, seen := p.linked[id]; seen {
			e.Kind, e.Target = HardLink, first
			return true, nil
		}
		p.linked[id] = e.Path
	}
	if p.isTooLarge(info.Size()) && (p.o.KnownSize == nil || !p.o.KnownSize(info.Size())) {
		return p.omit(info.Size())
	}
	if info.Mode().Perm()&0o400 == 0 {
		if err := at.Chmod(name, 0o400); err != nil {
			return false, err
		}
	}
	f, err := at.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if e.Digest, err = sum(f, p.buffer); err != nil {
		return false, err
	}
	if e.Digest.Size == 0 || p.o.Known != nil && p.o.Known(e.Digest) {
		return true, nil
	}
	if p.isTooLarge(e.Digest.Size) {
		return p.omit(e.Digest.Size)
	}
	p.size += e.Digest.Size
	if known, there := p.where[e.Digest]; there {
		e.Piece, e.At = known.piece, known.at
		return true, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	alone := e.Digest.Size > smallFile
	if alone {
		if err := p.pieces.cut(); err != nil {
			return false, err
		}
	}
	piece, offset := p.pieces.place()
	e.Piece, e.At = p.first+piece, offset
	p.where[e.Digest] = place{e.Piece, e.At}
	_, err = io.CopyBuffer(struct{ io.Writer }{p.pieces}, io.LimitReader(f, e.Digest.Size), p.buffer)
	if err == nil && alone {
		err = p.pieces.cut()
	}
	return true, err
}

func (p *packer) isTooLarge(size int64) bool { return p.o.Limit > 0 && p.size+size > p.o.Limit }

func (p *packer) omit(size int64) (carried bool, err error) {
	p.x.OmittedBytes += size
	p.x.OmittedEntries++
	return false, nil
}

// Restore unpacks a parcel into root, which can contain its directories if they are empty.
func Restore(root *os.Root, x *Index, from Source) error {
	buffer := make([]byte, 64<<10)
	for i := range x.Entries {
		e := &x.Entries[i]
		if !validBytes(e.Path) {
			return fmt.Errorf("parcel: bad path %q", e.Path)
		}
		if err := restore(root, x, e, from, buffer); err != nil {
			return fmt.Errorf("unpacking %q: %w", e.Path, err)
		}
	}
	// Unpacking into a directory changes its time, and its mode may forbid that.
	for _, e := range slices.Backward(x.Entries) {
		if e.Kind == Directory {
			if err := finish(root, &e); err != nil {
				return fmt.Errorf("unpacking %q: %w", e.Path, err)
			}
		}
	}
	return nil
}

func restore(root *os.Root, x *Index, e *Entry, from Source, buffer []byte) error {
	switch e.Kind {
	case Directory:
		err := root.Mkdir(e.Path, 0o700)
		if errors.Is(err, fs.ErrExist) {
			err = root.Chmod(e.Path, 0o700)
		}
		return err
	case Symlink:
		return root.Symlink(e.Target, e.Path)
	case HardLink:
		return root.Link(e.Target, e.Path)
	case FIFO, Socket:
		if err := makeNode(root, e.Path, e.Kind); err != nil {
			return err
		}
		return finish(root, e)
	}
	f, err := root.OpenFile(e.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if e.Digest.Size > 0 {
		err = fill(f, x, e, from, buffer)
	}
	return cmp.Or(errors.Join(err, f.Close()), finish(root, e))
}

func fill(f *os.File, x *Index, e *Entry, from Source, buffer []byte) error {
	r, err := x.Open(e, from)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{f}, r, buffer)
	return errors.Join(err, r.Close())
}
