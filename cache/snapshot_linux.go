package cache

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lookAt returns the state of a path, which ends with a NUL. A missing path
// has a state, too.
func lookAt(path []byte, follow bool) (pathState, error) {
	var st unix.Stat_t
	flags := unix.AT_SYMLINK_NOFOLLOW
	if follow {
		flags = 0
	}
	name := unsafe.String(&path[0], len(path)-1) // unix makes a copy of it
	for {
		err := unix.Fstatat(unix.AT_FDCWD, name, &st, flags)
		switch {
		case err == nil:
			return pathState{mode: st.Mode, fileState: fileState{
				size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), inode: st.Ino, dev: deviceIdentity(name, uint64(st.Dev)), //nolint:unconvert // 32 bits on some platforms
			}}, nil
		case errors.Is(err, unix.EINTR):
		case isGone(err):
			return pathState{absent: true}, nil
		default:
			return pathState{}, &os.PathError{Op: "stat", Path: string(path[:len(path)-1]), Err: err}
		}
	}
}

// seenOf returns the state in info of the file at path.
func seenOf(path string, info fs.FileInfo) (pathState, error) {
	state, ok := stateOf(path, info)
	st, isStat := info.Sys().(*syscall.Stat_t)
	if !ok || !isStat {
		return pathState{}, &UnsettledError{Path: path}
	}
	return pathState{fileState: state, mode: st.Mode}, nil
}

func isNotDirectory(err error) bool { return errors.Is(err, unix.ENOTDIR) }

func (s pathState) kind() uint32    { return s.mode & unix.S_IFMT }
func (s pathState) regular() bool   { return s.kind() == unix.S_IFREG }
func (s pathState) directory() bool { return s.kind() == unix.S_IFDIR }
