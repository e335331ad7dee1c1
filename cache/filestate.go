package cache

import "io/fs"

// fileState is a file's state as the file system reports it, without its content. Equal states mean equal
// bytes, except for a file that was written within one tick of the clock that stamps it: see stableAt.
type fileState struct {
	size         int64
	mtime, ctime int64 // nanoseconds since 1970
	inode        uint64
	dev          uint64
}

// Ticks of the clocks that stamp files. Kernels stamp with the time of their last timer interrupt,
// at most 10 ms ago; a stamp of whole seconds suggests a file system that
// keeps no more, or, as FAT does, only even ones.
const (
	fineTick   = int64(200e6)
	coarseTick = int64(2.2e9)
)

// stableAt reports whether any write after time now (in nanoseconds) would
// have changed the state.
func (s fileState) stableAt(now int64) bool {
	return stampStable(s.mtime, now) && stampStable(s.ctime, now)
}

// isSettled is like stableAt for the file at path, when now is a time of this process's clock.
func (s fileState) isSettled(path string, now int64) bool {
	return s.stableAt(now) && s.stableAt(now-clocks.ahead(path, s.dev))
}

func stampStable(stamp, now int64) bool {
	tick := fineTick
	if stamp%1e9 == 0 {
		tick = coarseTick
	}
	return stamp < now-tick
}

// stateOf returns the state of a file at path; ok is false where the platform
// does not tell enough to recognise a change.
func stateOf(path string, fi fs.FileInfo) (s fileState, ok bool) {
	s = fileState{size: fi.Size(), mtime: fi.ModTime().UnixNano()}
	ok = s.addSystem(fi.Sys())
	s.dev = deviceIdentity(path, s.dev)
	return s, ok
}

// TypeName names the type of a file in messages.
func TypeName(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
