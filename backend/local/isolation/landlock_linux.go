package isolation

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// restrict keeps this process to the files of the view, which stay where they are. terminal
// allows the terminal of its session. Others are the caller's: Landlock cannot tell a
// pseudo terminal that the program opens from one of another process.
func (v *View) restrict(terminal bool) error {
	var rules []landlock.Rule
	allow := func(path string, dir, file func(...string) landlock.FSRule) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			rules = append(rules, dir(path))
		} else if err == nil {
			rules = append(rules, file(path))
		}
	}
	for _, p := range append([]Place{{Source: "/proc"}}, v.ReadOnly...) {
		allow(p.Source, landlock.RODirs, landlock.ROFiles)
	}
	writable := append([]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}, v.Writable...)
	if terminal {
		writable = append(writable, "/dev/tty")
	}
	const memory = "/dev/shm"
	if !slices.ContainsFunc(v.Writable, func(path string) bool { return strings.HasPrefix(path, memory+"/") }) { // else workspaces are there
		writable = append(writable, memory)
	}
	for _, path := range writable {
		allow(path, landlock.RWDirs, landlock.RWFiles)
	}
	for _, o := range v.Overlays {
		allow(o.Lower, landlock.RWDirs, landlock.RWFiles)
	}
	if err := landlocked(); err != nil {
		return err // best effort would do nothing
	}
	kernel := landlock.V11
	if err := kernel.BestEffort().RestrictPaths(rules...); err != nil {
		return fmt.Errorf("restricting files: %w", err)
	}
	if err := kernel.BestEffort().RestrictScoped(); err != nil {
		return fmt.Errorf("restricting signals: %w", err)
	}
	return nil
}

// landlocked is an error where the kernel has no Landlock, or has it turned off.
func landlocked() error {
	const version = 1 // LANDLOCK_CREATE_RULESET_VERSION
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, version); errno != 0 {
		return fmt.Errorf("asking for Landlock: %w", errno)
	}
	return nil
}
