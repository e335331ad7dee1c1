package local

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
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
	return userLimits()
}

var terminals = procFile{name: "/proc/sys/kernel/pty/nr"}

// spareInstances counts the inotify instances that must be left after a command. The last ones can be taken for a
// moment only, between a program's failure and the look at what is left.
const spareInstances = 8

// nearly returns the use of a limit at which it counts as reached, for the same reason.
func nearly(limit uint64) uint64 { return limit - limit/8 }

// probing allows one look at instances at a time, so that the looks leave room for programs.
var probing sync.Mutex

// userLimits returns an error if a resource is nearly used up that the kernel limits for all programs of the calling
// thread's user, or of the machine, together. No process of the session runs any more, so others hold it.
func userLimits() (err error) {
	status, _ := os.ReadFile("/proc/thread-self/status")
	if _, line, ok := bytes.Cut(status, []byte("\nSigQ:")); ok {
		var queued, limit uint64
		if n, _ := fmt.Sscanf(string(line), "%d/%d", &queued, &limit); n == 2 && queued >= nearly(min(limit, mostSignals)) {
			err = fmt.Errorf("the user's limit on queued signals, %d, is reached", min(limit, mostSignals))
		}
	}
	terminals.ask(func(content []byte) {
		if n, _ := strconv.ParseUint(string(bytes.TrimSpace(content)), 10, 64); n >= nearly(mostTerminals()) {
			err = errors.New("the machine has no pseudo terminals left; raise kernel.pty.max")
		}
	})
	probing.Lock()
	defer probing.Unlock()
	for range spareInstances {
		fd, failed := unix.InotifyInit1(unix.IN_CLOEXEC)
		if failed == nil {
			defer unix.Close(fd)
		} else if errors.Is(failed, unix.EMFILE) {
			return errors.New("hardly an inotify instance is left; raise fs.inotify.max_user_instances, or end programs that hold some")
		}
	}
	return err
}

// mostSignals limits the queued signals of commands.
var mostSignals = func() uint64 {
	i := slices.IndexFunc(backend.CommandLimits, func(l backend.Limit) bool { return l.Key == "sigpending" })
	return backend.CommandLimits[i].Hard
}()

// mostTerminals returns the number of pseudo terminals that commands can have together.
var mostTerminals = sync.OnceValue(func() uint64 {
	var n [2]uint64
	for i, name := range []string{"max", "reserve"} {
		content, err := os.ReadFile("/proc/sys/kernel/pty/" + name)
		if err != nil {
			return math.MaxUint64
		}
		n[i], _ = strconv.ParseUint(string(bytes.TrimSpace(content)), 10, 64)
	}
	return n[0] - n[1]
})

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
