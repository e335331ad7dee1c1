package backend

import (
	"fmt"
	"math"
	"math/bits"
)

// Limit describes a resource limit of commands, which can raise the soft limit to the hard one.
type Limit struct {
	Key        string // as container engines name it
	Name       string // for identities
	Soft, Hard uint64
}

const unlimited = math.MaxUint64

// CommandLimits lists the resource limits of commands on Linux, on every backend. It omits the limit on file locks,
// which marks processes.
var CommandLimits = []Limit{
	{"nofile", "open files", 1 << 10, 1 << 14},
	{"stack", "stack", 8 << 20, unlimited},
	{"core", "core file size", 0, 0},
	{"as", "address space", unlimited, unlimited},
	{"data", "data segment", unlimited, unlimited},
	{"rss", "resident memory", unlimited, unlimited},
	{"cpu", "CPU time", unlimited, unlimited},
	{"fsize", "file size", unlimited, unlimited},
	{"rttime", "real-time CPU time", unlimited, unlimited},
	{nproc, "processes", 1 << 16, 1 << 16},
	{"sigpending", "pending signals", 1 << 12, 1 << 12},
	{"memlock", "locked memory", 8 << 20, 8 << 20},
	{"msgqueue", "message queues", 819200, 819200},
	{"nice", "niceness", 0, 0},
	{"rtprio", "real-time priority", 0, 0},
}

const nproc = "nproc"

// Below returns the hard limit of commands if that of the process that starts them is most, since raising a
// limit takes a privilege. The kernel derives the limit on processes from the size of the memory; machines of
// similar size get the same value.
func (l Limit) Below(most uint64) uint64 {
	if l.Key == nproc && 0 < most && most < l.Hard {
		return 1 << (bits.Len64(most) - 1)
	}
	return min(l.Hard, most)
}

// LowLimits maps keys of CommandLimits to hard limits of commands that are lower.
type LowLimits map[string]uint64

// Identity returns the fields of an identity, in the order of CommandLimits.
func (low LowLimits) Identity() (fields Identity) {
	for _, limit := range CommandLimits {
		if hard, is := low[limit.Key]; is {
			fields = append(fields, Field{Label: "limit on " + limit.Name, Value: fmt.Sprint(hard)})
		}
	}
	return fields
}
