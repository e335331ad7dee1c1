package local

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
)

// What a process inherits from whoever started fevalgraph, besides its environment,
// is made the same everywhere or, where that cannot be, enters keys.

// commandUmask is the umask of commands.
const commandUmask = 0o022

// ownUmask is this process's umask, or commandUmask where the kernel does not say.
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

// setUmask gives the calling thread, and what it starts, a umask of its own.
func setUmask() error {
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	unix.Umask(commandUmask)
	return nil
}

// softLimits are what commands may use unless their hard limit is lower; they may raise
// them themselves. Every other limit is as high as it may be.
var softLimits = map[int]uint64{unix.RLIMIT_NOFILE: 1024, unix.RLIMIT_STACK: 8 << 20, unix.RLIMIT_CORE: 0}

// hardLimits are those that can change an outcome and that nothing here can lift.
var hardLimits = []struct {
	resource int
	name     string
}{
	{unix.RLIMIT_AS, "address space"},
	{unix.RLIMIT_DATA, "data segment"},
	{unix.RLIMIT_CPU, "CPU time"},
	{unix.RLIMIT_FSIZE, "file size"},
}

// setLimits gives a process its soft limits. One that has ended needs none.
func setLimits(pid int) {
	set := func(resource int, soft uint64) {
		var now unix.Rlimit
		if unix.Prlimit(pid, resource, nil, &now) == nil {
			_ = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: min(soft, now.Max), Max: now.Max}, nil)
		}
	}
	for resource, soft := range softLimits {
		set(resource, soft)
	}
	for _, limit := range hardLimits {
		set(limit.resource, unix.RLIM_INFINITY)
	}
}

// inheritedLimits are the hard limits of this process, for the identity.
func inheritedLimits() (fields backend.Identity) {
	for _, limit := range hardLimits {
		var now unix.Rlimit
		if unix.Getrlimit(limit.resource, &now) == nil && now.Max != unix.RLIM_INFINITY {
			fields = append(fields, backend.Field{Label: "limit on " + limit.name, Value: fmt.Sprint(now.Max)})
		}
	}
	return fields
}
