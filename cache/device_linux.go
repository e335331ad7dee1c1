package cache

import (
	"encoding/binary"
	"hash/fnv"
	"sync"

	"golang.org/x/sys/unix"
)

// devices caches the identities of file systems by device number.
var devices sync.Map // uint64 -> uint64

// deviceIdentity identifies the file system of the file at path. Device numbers are
// reused: two images that are mounted one after the other can have the same number, and
// their files the same inodes and times. The file system's own identity distinguishes
// them. On a read-only file system, whose times can be arbitrary, the unique number of
// the mount is included.
func deviceIdentity(path string, dev uint64) uint64 {
	if known, ok := devices.Load(dev); ok {
		return known.(uint64)
	}
	h := fnv.New64a()
	add := func(v uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, v)) }
	add(dev)
	fd, err := openDevice(path, dev)
	if err != nil {
		return dev
	}
	defer unix.Close(fd)
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil {
		return dev
	}
	add(uint64(uint32(fs.Fsid.Val[0])) | uint64(uint32(fs.Fsid.Val[1]))<<32)
	if fs.Flags&unix.ST_RDONLY != 0 {
		var st unix.Statx_t
		if unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID_UNIQUE, &st) == nil {
			add(st.Mnt_id)
		}
	}
	identity, _ := devices.LoadOrStore(dev, h.Sum64())
	return identity.(uint64)
}

// openDevice opens the file at path on the device dev: the target of a link, or the link
// itself.
func openDevice(path string, dev uint64) (fd int, err error) {
	for _, flags := range []int{0, unix.O_NOFOLLOW} {
		if fd, err = unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|flags, 0); err != nil {
			continue
		}
		var st unix.Stat_t
		if err = unix.Fstat(fd, &st); err == nil && uint64(st.Dev) == dev { //nolint:unconvert // 32 bits on some platforms
			return fd, nil
		}
		unix.Close(fd)
		err = unix.ESTALE
	}
	return -1, err
}
