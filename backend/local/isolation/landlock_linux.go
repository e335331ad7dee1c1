package isolation

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// restrict keeps this thread, and what it starts or becomes, to the files of the view, which stay at their
// paths. terminal allows the terminal of its session. Other terminals are denied, since Landlock cannot
// distinguish pseudo terminals of the program from those of other processes. private allows /dev/shm, which
// other programs of the machine would share if ownMemory had not replaced it.
func (v *View) restrict(terminal, private bool) error {
	version, err := landlocked()
	if err != nil {
		return err
	}
	attributes := unix.LandlockRulesetAttr{Handled_access_fs: fileRights(version)}
	if version >= scopesSince {
		attributes.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	rules, err := newRuleset(attributes)
	if err != nil {
		return err
	}
	defer rules.close()
	for _, p := range append([]Place{{Source: "/proc"}}, v.ReadOnly...) {
		if err := rules.allow(p.Source, readRights); err != nil {
			return err
		}
	}
	writable := append([]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}, v.Writable...)
	if terminal {
		writable = append(writable, "/dev/tty")
	}
	if private {
		writable = append(writable, sharedMemory)
	}
	for _, o := range v.Overlays {
		writable = append(writable, o.Lower)
	}
	for _, path := range writable {
		if err := rules.allow(path, readRights|writeRights); err != nil {
			return err
		}
	}
	return rules.enforce()
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
	rules, err := newRuleset(unix.LandlockRulesetAttr{Scoped: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET})
	if err != nil {
		return err
	}
	defer rules.close()
	return rules.enforce()
}

// scopesSince is the first version of Landlock with scopes.
const scopesSince = 6

// Scoped reports whether the kernel can deny programs abstract sockets and, at level Partial, signals to
// other processes, as Linux can from 6.12 on.
func Scoped() bool {
	version, err := landlocked()
	return err == nil && version >= scopesSince
}

// landlocked returns the version of the kernel's Landlock, or an error if it is missing or disabled.
func landlocked() (version int, err error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, fmt.Errorf("asking for Landlock: %w", errno)
	}
	return int(v), nil
}
