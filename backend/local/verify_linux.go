package local

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
)

// oomKills counts how often the kernel killed a process of this process's control group, or else of the
// machine, for lack of memory; forksDenied counts how often the group reached its limit on processes. Both
// are 0 if the kernel does not report them.
var (
	oomKills    = count{ask: eventsOf("memory", "memory.events", "memory.oom_control", "oom_kill", "/proc/vmstat")}
	forksDenied = count{ask: eventsOf("pids", "pids.events", "pids.events", "max", "")}
)

// kernelCounts are the kernel's counts at some moment.
type kernelCounts struct{ oomKills, forksDenied uint64 }

func countsBefore() kernelCounts { return kernelCounts{oomKills.recent(), forksDenied.recent()} }

// verify returns an error if the kernel has counted more failures since then.
func (before kernelCounts) verify() error {
	switch {
	case oomKills.now() != before.oomKills:
		return errors.New("the machine ran out of memory while a command ran, and the kernel killed something")
	case forksDenied.now() != before.forksDenied:
		return errors.New("the limit on processes was reached while a command ran; raise pids.max, or lower --jobs")
	}
	return nil
}

// eventsOf reads the counter name from the events of this process's control group: from the file unified
// in version 2, legacy in version 1, and fallback if neither exists, as in the root group.
func eventsOf(controller, unified, legacy, name, fallback string) func() uint64 {
	file := sync.OnceValue(func() *procFile {
		groups, _ := os.ReadFile("/proc/self/cgroup")
		for line := range strings.Lines(string(groups)) {
			var path string
			switch fields := strings.SplitN(strings.TrimSpace(line), ":", 3); {
			case len(fields) < 3:
				continue
			case fields[1] == "":
				path = "/sys/fs/cgroup" + fields[2] + "/" + unified
			case fields[1] == controller:
				path = "/sys/fs/cgroup/" + controller + fields[2] + "/" + legacy
			}
			if _, err := os.Stat(path); err == nil {
				return &procFile{name: path}
			}
		}
		return &procFile{name: fallback}
	})
	return func() (n uint64) {
		file().ask(func(content []byte) {
			for line := range bytes.Lines(content) {
				if value, ok := bytes.CutPrefix(line, []byte(name+" ")); ok {
					n, _ = strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 64)
				}
			}
		})
		return n
	}
}
