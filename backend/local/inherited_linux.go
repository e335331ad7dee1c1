package local

import (
	"bytes"
	"fmt"
	"math/bits"
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

// commandLimit is a resource limit of commands. They can raise the soft limit to the hard one.
type commandLimit struct {
	resource   int
	name       string
	soft, hard uint64
}

// limits lists all limits of commands except the limit on file locks, which marks processes.
var limits = []commandLimit{
	{unix.RLIMIT_NOFILE, "open files", 1 << 10, 1 << 14},
	{unix.RLIMIT_STACK, "stack", 8 << 20, unix.RLIM_INFINITY},
	{unix.RLIMIT_CORE, "core file size", 0, 0},
	{unix.RLIMIT_AS, "address space", unix.RLIM_INFINITY, unix.RLIM_INFINITY},
	{unix.RLIMIT_DATA, "data segment", unix.RLIM_INFINITY, unix.RLIM_INFINITY},
	{unix.RLIMIT_RSS, "resident memory", unix.RLIM_INFINITY, unix.RLIM_INFINITY},
	{unix.RLIMIT_CPU, "CPU time", unix.RLIM_INFINITY, unix.RLIM_INFINITY},
	{unix.RLIMIT_FSIZE, "file size", unix.RLIM_INFINITY, unix.RLIM_INFINITY},
	{unix.RLIMIT_RTTIME, "real-time CPU time", unix.RLIM_INFINITY, unix.RLIM_INFINITY},
	{unix.RLIMIT_NPROC, "processes", 1 << 16, 1 << 16},
	{unix.RLIMIT_SIGPENDING, "pending signals", 1 << 12, 1 << 12},
	{unix.RLIMIT_MEMLOCK, "locked memory", 8 << 20, 8 << 20},
	{unix.RLIMIT_MSGQUEUE, "message queues", 819200, 819200},
	{unix.RLIMIT_NICE, "niceness", 0, 0},
	{unix.RLIMIT_RTPRIO, "real-time priority", 0, 0},
}

// below returns the hard limit of commands if this process's own limit is most, since raising a limit
// takes a privilege. The kernel derives the limit on processes from the size of the memory; machines of
// similar size get the same value.
func (l commandLimit) below(most uint64) uint64 {
	if l.resource == unix.RLIMIT_NPROC && 0 < most && most < l.hard {
		return 1 << (bits.Len64(most) - 1)
	}
	return min(l.hard, most)
}

// setLimits sets the limits of commands on a process. A process that has ended is not an error.
func setLimits(pid int) {
	for _, limit := range limits {
		var now unix.Rlimit
		if unix.Prlimit(pid, limit.resource, nil, &now) == nil {
			hard := limit.below(now.Max)
			_ = unix.Prlimit(pid, limit.resource, &unix.Rlimit{Cur: min(limit.soft, hard), Max: hard}, nil)
		}
	}
}

// inheritedLimits returns, for the identity, the hard limits of this process that are lower than the
// limits of commands.
func inheritedLimits() (fields backend.Identity) {
	for _, limit := range limits {
		var now unix.Rlimit
		if unix.Prlimit(0, limit.resource, nil, &now) == nil && now.Max < limit.hard {
			fields = append(fields, backend.Field{Label: "limit on " + limit.name, Value: fmt.Sprint(limit.below(now.Max))})
		}
	}
	return fields
}

// ignoresSetuid reports whether set-user-id and set-group-id bits have no effect on the file system of a
// directory. Isolated commands never get them.
func ignoresSetuid(dir string) bool {
	var now unix.Statfs_t
	return unix.Statfs(dir, &now) == nil && now.Flags&unix.MS_NOSUID != 0
}
