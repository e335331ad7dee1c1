package workspace

import (
	"bytes"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// condition is the part of an empty directory's state that programs can change.
type condition struct {
	device, inode uint64
	mode          uint32
	uid, gid      uint32
	changed       unix.Timespec // its ctime; zero if we changed it ourselves
	flags         int           // of the file system, such as immutable
	attributes    string        // names of extended attributes, including access lists
	entries       string        // names
}

// conditions holds the initial states of a workspace's directories.
type conditions struct {
	dirs  []*os.File // base, work, home, tmp
	first []condition
}

// parts are the directories of a workspace; the first is the workspace itself.
var parts = []string{".", workDir, homeDir, tempDir}

// examine opens the directories and records their states.
func examine(root *os.Root) (*conditions, error) {
	c := &conditions{}
	for i, part := range parts {
		dir, err := root.Open(part)
		if err != nil {
			c.close()
			return nil, err
		}
		c.dirs = append(c.dirs, dir)
		now, err := conditionOf(int(dir.Fd()), i == 0)
		if err != nil {
			c.close()
			return nil, err
		}
		c.first = append(c.first, now)
	}
	return c, nil
}

// tick exceeds the clock resolution of any file system.
const tick = 3 * time.Second

// now returns a time of the file system's clock: that of the last change of the workspace itself, such as its
// move. Programs of sessions cannot have changed it since.
func (c *conditions) now() time.Time {
	var state unix.Stat_t
	if unix.Fstat(int(c.dirs[0].Fd()), &state) != nil {
		return time.Time{}
	}
	return time.Unix(state.Ctim.Unix())
}

// areUnchanged reports whether the directories are empty and in their initial state. They
// were at since: directories that changed neither shortly before that nor later need no
// closer check.
func (c *conditions) areUnchanged(since time.Time) bool {
	for i, dir := range c.dirs {
		if first := c.first[i]; i > 0 && time.Unix(first.changed.Unix()).Add(tick).Before(since) {
			var state unix.Stat_t
			if unix.Fstat(int(dir.Fd()), &state) != nil || state.Ctim != first.changed {
				return false
			}
			continue
		}
		if now, err := conditionOf(int(dir.Fd()), i == 0); err != nil || now != c.first[i] {
			return false
		}
	}
	return true
}

func (c *conditions) close() {
	for _, dir := range c.dirs {
		dir.Close()
	}
}

// conditionOf reads the whole state, and does not rely on the time of the last
// change: clocks of file systems are so coarse that a program can change a
// directory within the tick of its creation. Moving a workspace
// changes its base.
func conditionOf(fd int, moves bool) (c condition, err error) {
	var state unix.Stat_t
	if err := unix.Fstat(fd, &state); err != nil {
		return c, os.NewSyscallError("fstat", err)
	}
	c = condition{device: uint64(state.Dev), inode: state.Ino, mode: state.Mode, uid: state.Uid, gid: state.Gid} //nolint:unconvert // 32 bits on some platforms
	if !moves {
		c.changed = state.Ctim
	}
	if flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS); err == nil { // otherwise it has no flags
		c.flags = flags
	}
	buffer := buffers.Get().(*[4096]byte)
	defer buffers.Put(buffer)
	n, err := unix.Flistxattr(fd, buffer[:])
	if err != nil && err != unix.EOPNOTSUPP {
		return c, os.NewSyscallError("flistxattr", err)
	}
	c.attributes = string(buffer[:max(n, 0)])
	c.entries, err = entriesOf(fd, buffer[:])
	return c, err
}

var buffers = sync.Pool{New: func() any { return new([4096]byte) }}

// entriesOf returns names in the directory: all if they are few, and at least
// more than a new workspace has.
func entriesOf(fd int, buffer []byte) (string, error) {
	if _, err := unix.Seek(fd, 0, unix.SEEK_SET); err != nil {
		return "", os.NewSyscallError("lseek", err)
	}
	n, err := unix.Getdents(fd, buffer)
	if err != nil {
		return "", os.NewSyscallError("getdents", err)
	}
	_, _, names := unix.ParseDirent(buffer[:n], -1, nil)
	if len(names) == 0 {
		return "", nil
	}
	slices.Sort(names)
	var list bytes.Buffer
	for _, name := range names {
		list.WriteString(name)
		list.WriteByte(0)
	}
	return list.String(), nil
}

// rename moves a directory to a path that does not exist.
func rename(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
