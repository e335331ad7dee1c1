package local

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
)

// Processes inherit attributes from the parent of fevalgraph, besides the environment. These are set to
// the same values everywhere or, where that is impossible, enter keys.

// commandUmask is the umask of commands.
const commandUmask = 0o022

// ownUmask returns this process's umask, or commandUmask if the kernel does not report it.
var ownUmask = sync.OnceValue(func() int {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := bytes.Cut(status, []byte("\nUmask:"))
	digits, _, _ := bytes.Cut(rest, []byte("\n"))
	mask, err := strconv.ParseInt(string(bytes.TrimSpace(digits)), 8, 32)
	if err != nil {
		return commandUmask
	}
	return int(mask)
})

// setUmask gives the calling thread, and what it starts, a separate umask.
func setUmask() error {
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	unix.Umask(commandUmask)
	return nil
}

// setOwnLimits sets the limits of commands on this process and all that it starts. If low is not nil, it must be
// equal to backend.FindLowLimits.
func setOwnLimits(low backend.LowLimits) error {
	if now := backend.FindLowLimits(); low != nil && !maps.Equal(now, low) {
		return &backend.ToolError{Tool: "limits of the container", Err: fmt.Errorf("they are %v and were %v", now.Identity(), low.Identity()), Hint: backend.LimitsChanged}
	}
	backend.SetLimits(0)
	return nil
}

// ignoresSetuid reports whether set-user-id and set-group-id bits have no effect on the file system of a
// directory. Isolated commands never get them.
func ignoresSetuid(dir string) bool {
	var now unix.Statfs_t
	return unix.Statfs(dir, &now) == nil && now.Flags&unix.MS_NOSUID != 0
}
