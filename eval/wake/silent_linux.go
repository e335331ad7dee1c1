package wake

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Kinds of file systems that other machines or programs change without events of this kernel.
var elsewhere = map[int64]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.CIFS_SUPER_MAGIC: "SMB",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.FUSE_SUPER_MAGIC: "FUSE",
	unix.V9FS_MAGIC:       "9P",
	unix.CEPH_SUPER_MAGIC: "Ceph",
	unix.AFS_SUPER_MAGIC:  "AFS",
	unix.CODA_SUPER_MAGIC: "Coda",
}

// silent returns an error if changes in a directory can happen without an event.
func silent(dir string) error {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return nil // it is gone
	}
	if kind := elsewhere[int64(st.Type)]; kind != "" {
		return fmt.Errorf("%s is on a file system (%s) that does not report every change", dir, kind)
	}
	return nil
}
