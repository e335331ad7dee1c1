package isolation

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// restrict keeps this process to the files of the view, which stay where they are. terminal allows the
// terminal of its session. Other terminals are denied, since Landlock cannot distinguish pseudo terminals
// of the program from those of other processes. private allows /dev/shm, which other programs of the
// machine would share if ownMemory had not replaced it.
func (v *View) restrict(terminal, private bool) error {
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
	if private {
		writable = append(writable, sharedMemory)
	}
	for _, path := range writable {
		allow(path, landlock.RWDirs, landlock.RWFiles)
	}
	for _, o := range v.Overlays {
		allow(o.Lower, landlock.RWDirs, landlock.RWFiles)
	}
	if _, err := landlocked(); err != nil {
		return err // best effort would restrict nothing
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

// sharedMemory names the directory in which programs share memory by names, as Python's multiprocessing does.
const sharedMemory = "/dev/shm"

// ownMemory gives this process a private /dev/shm and private IPC, and reports whether it did. It returns
// false if the machine refuses these namespaces, or if the mount would hide a path of the view.
func (v *View) ownMemory() (bool, error) {
	for _, m := range v.mounts() {
		if strings.HasPrefix(m.source+"/", sharedMemory+"/") {
			return false, nil
		}
	}
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_NEWIPC); err != nil {
		return false, nil // as for all users except root
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return false, fmt.Errorf("keeping mounts private: %w", err)
	}
	if err := mountEmpty(sharedMemory, "mode=1777"); err != nil {
		return false, fmt.Errorf("mounting %s: %w", sharedMemory, err)
	}
	return true, nil
}

// scope denies this thread, and processes that it starts, the abstract sockets of other programs. It does
// nothing if the kernel does not support that; see Scoped.
func scope() error {
	if !Scoped() {
		return nil
	}
	scoped := [3]uint64{2: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET} // handled accesses of files and of networks, and scopes
	rules, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&scoped)), unsafe.Sizeof(scoped), 0)
	if errno != 0 {
		return fmt.Errorf("restricting sockets: %w", errno)
	}
	defer unix.Close(int(rules))
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); errno != 0 {
		return fmt.Errorf("restricting sockets: %w", errno)
	}
	return nil
}

// Scoped reports whether the kernel can deny programs abstract sockets and, at level Partial, signals to
// other processes, as Linux can from 6.12 on.
func Scoped() bool {
	const since = 6
	version, err := landlocked()
	return err == nil && version >= since
}

// landlocked returns the version of the kernel's Landlock, or an error if it is missing or disabled.
func landlocked() (version int, err error) {
	const askVersion = 1 // LANDLOCK_CREATE_RULESET_VERSION
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, askVersion)
	if errno != 0 {
		return 0, fmt.Errorf("detecting Landlock: %w", errno)
	}
	return int(v), nil
}
