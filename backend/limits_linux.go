package backend

import "golang.org/x/sys/unix"

// resources maps keys of CommandLimits to the kernel's numbers.
var resources = map[string]int{
	"nofile": unix.RLIMIT_NOFILE, "stack": unix.RLIMIT_STACK, "core": unix.RLIMIT_CORE, "as": unix.RLIMIT_AS, "data": unix.RLIMIT_DATA,
	"rss": unix.RLIMIT_RSS, "cpu": unix.RLIMIT_CPU, "fsize": unix.RLIMIT_FSIZE, "rttime": unix.RLIMIT_RTTIME, "nproc": unix.RLIMIT_NPROC,
	"sigpending": unix.RLIMIT_SIGPENDING, "memlock": unix.RLIMIT_MEMLOCK, "msgqueue": unix.RLIMIT_MSGQUEUE, "nice": unix.RLIMIT_NICE,
	"rtprio": unix.RLIMIT_RTPRIO,
}

// SetLimits sets the limits of commands on a process. A process that has ended is not an error.
func SetLimits(pid int) {
	for _, limit := range CommandLimits {
		var now unix.Rlimit
		if unix.Prlimit(pid, resources[limit.Key], nil, &now) == nil {
			hard := limit.Below(now.Max)
			_ = unix.Prlimit(pid, resources[limit.Key], &unix.Rlimit{Cur: min(limit.Soft, hard), Max: hard}, nil)
		}
	}
}

// FindLowLimits returns the hard limits of commands that this process cannot start with those of
// CommandLimits.
func FindLowLimits() LowLimits {
	low := LowLimits{}
	for _, limit := range CommandLimits {
		var now unix.Rlimit
		if unix.Prlimit(0, resources[limit.Key], nil, &now) == nil && now.Max < limit.Hard {
			low[limit.Key] = limit.Below(now.Max)
		}
	}
	return low
}
