package parcel

import (
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/cache"
)

// sum returns the digest of a reader's bytes.
func sum(r io.Reader, buffer []byte) (cache.Digest, error) {
	h := sha256.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{r}, buffer)
	d := cache.Digest{Size: n}
	h.Sum(d.Hash[:0])
	return d, err
}

// validBytes reports whether a path stays below its start. The path need not be valid
// text.
func validBytes(name string) bool {
	for element := range strings.SplitSeq(name, "/") {
		if element == "" || element == "." || element == ".." || strings.Contains(element, "\x00") {
			return false
		}
	}
	return true
}

// makeNode creates a FIFO or a socket.
func makeNode(root *os.Root, name string, kind Kind) error {
	dir, err := root.Open(path.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	mode := uint32(unix.S_IFIFO)
	if kind == Socket {
		mode = unix.S_IFSOCK
	}
	return unix.Mknodat(int(dir.Fd()), path.Base(name), mode|0o600, 0)
}

// finish sets the mode and time of an entry. No two entries of a parcel share a path, so
// the entry cannot be a symbolic link that an earlier one created.
func finish(root *os.Root, e *Entry) error {
	at := time.Unix(0, e.Time)
	if err := root.Chtimes(e.Path, at, at); err != nil {
		return err
	}
	return root.Chmod(e.Path, modeOf(e.Mode))
}

// modeOf converts a mode of the system to package fs.
func modeOf(bits uint32) fs.FileMode {
	mode := fs.FileMode(bits & 0o777)
	for bit, is := range map[uint32]fs.FileMode{syscall.S_ISUID: fs.ModeSetuid, syscall.S_ISGID: fs.ModeSetgid, syscall.S_ISVTX: fs.ModeSticky} {
		if bits&bit != 0 {
			mode |= is
		}
	}
	return mode
}
