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

// resources are the kernel's numbers of backend.CommandLimits.
var resources = map[string]int{
	"nofile": unix.RLIMIT_NOFILE, "stack": unix.RLIMIT_STACK, "core": unix.RLIMIT_CORE, "as": unix.RLIMIT_AS, "data": unix.RLIMIT_DATA,
	"rss": unix.RLIMIT_RSS, "cpu": unix.RLIMIT_CPU, "fsize": unix.RLIMIT_FSIZE, "rttime": unix.RLIMIT_RTTIME, "nproc": unix.RLIMIT_NPROC,
	"sigpending": unix.RLIMIT_SIGPENDING, "memlock": unix.RLIMIT_MEMLOCK, "msgqueue": unix.RLIMIT_MSGQUEUE, "nice": unix.RLIMIT_NICE,
	"rtprio": unix.RLIMIT_RTPRIO,
}

// setLimits sets the limits of commands on a process. A process that has ended is not an error.
func setLimits(pid int) {
	for _, limit := range backend.CommandLimits {
		var now unix.Rlimit
		if unix.Prlimit(pid, resources[limit.Key], nil, &now) == nil {
			hard := limit.Below(now.Max)
			_ = unix.Prlimit(pid, resources[limit.Key], &unix.Rlimit{Cur: min(limit.Soft, hard), Max: hard}, nil)
		}
	}
}

// setOwnLimits sets the limits of commands on this process and all that it starts. If low is not nil, it must be
// equal to FindLowLimits.
func setOwnLimits(low backend.LowLimits) error {
	if now := FindLowLimits(); low != nil && !maps.Equal(now, low) {
		return &backend.ToolError{Tool: "limits of the container", Err: fmt.Errorf("they are %v and were %v", now.Identity(), low.Identity()), Hint: backend.LimitsChanged}
	}
	setLimits(0)
	return nil
}

// FindLowLimits returns the hard limits of commands that this process cannot start with those of
// backend.CommandLimits.
func FindLowLimits() backend.LowLimits {
	low := backend.LowLimits{}
	for _, limit := range backend.CommandLimits {
		var now unix.Rlimit
		if unix.Prlimit(0, resources[limit.Key], nil, &now) == nil && now.Max < limit.Hard {
			low[limit.Key] = limit.Below(now.Max)
		}
	}
	return low
}

// ignoresSetuid reports whether set-user-id and set-group-id bits have no effect on the file system of a
// directory. Isolated commands never get them.
func ignoresSetuid(dir string) bool {
	var now unix.Statfs_t
	return unix.Statfs(dir, &now) == nil && now.Flags&unix.MS_NOSUID != 0
}
