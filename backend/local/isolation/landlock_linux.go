package isolation

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// restrict keeps this thread, and the program that it becomes, to the files of the view, which stay where they
// are. terminal allows the terminal of its session. Other terminals are denied, since Landlock cannot distinguish pseudo terminals
// of the program from those of other processes. private allows /dev/shm, which other programs of the
// machine would share if ownMemory had not replaced it.
func (v *View) restrict(terminal, private bool) error {
	version, err := landlocked()
	if err != nil {
		return err
	}
	handled, scopes := restrictable(version)
	rules, err := createRuleset(handled, scopes)
	if err != nil {
		return fmt.Errorf("restricting files: %w", err)
	}
	defer unix.Close(rules)
	var failed error
	allow := func(path string, rights uint64) {
		if failed == nil {
			failed = allowBelow(rules, path, rights&handled)
		}
	}
	for _, p := range append([]Place{{Source: "/proc"}}, v.ReadOnly...) {
		allow(p.Source, readRights)
	}
	writable := append([]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}, v.Writable...)
	if terminal {
		writable = append(writable, "/dev/tty")
	}
	if private {
		writable = append(writable, sharedMemory)
	}
	for _, path := range writable {
		allow(path, readRights|writeRights)
	}
	for _, o := range v.Overlays {
		allow(o.Lower, readRights|writeRights)
	}
	if failed == nil {
		failed = restrictSelf(rules)
	}
	if failed != nil {
		return fmt.Errorf("restricting files: %w", failed)
	}
	return nil
}

// Rights of rules. Nothing gets the right to move files between directories with different rules, to control
// devices, or to connect to sockets of other programs.
const (
	readRights  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeRights = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// restrictable returns the rights to files, and the scopes, that a version of Landlock can deny.
func restrictable(version int) (files, scopes uint64) {
	files = unix.LANDLOCK_ACCESS_FS_REFER - 1
	for _, more := range []struct {
		since int
		right uint64
	}{{2, unix.LANDLOCK_ACCESS_FS_REFER}, {3, unix.LANDLOCK_ACCESS_FS_TRUNCATE}, {5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV}, {9, unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX}} {
		if version >= more.since {
			files |= more.right
		}
	}
	if version >= scopesSince {
		scopes = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return files, scopes
}

// createRuleset returns the descriptor of rules that deny rights to files, and scopes.
func createRuleset(files, scopes uint64) (int, error) {
	denied := [3]uint64{0: files, 2: scopes} // 1: networks
	rules, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&denied)), unsafe.Sizeof(denied), 0)
	if errno != 0 {
		return 0, os.NewSyscallError("landlock_create_ruleset", errno)
	}
	return int(rules), nil
}

// allowBelow adds a rule that allows rights to a file, or below a directory. It ignores a path that this process
// cannot reach.
func allowBelow(rules int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	below := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	if _, _, errno := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&below)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("allowing %s: %w", path, errno)
	}
	return nil
}

// restrictSelf applies rules to this thread, and to what it starts. Rules for all threads would need signals, which
// the kernel drops while other programs of the user have the maximum number queued.
func restrictSelf(rules int) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0); errno != 0 {
		return os.NewSyscallError("landlock_restrict_self", errno)
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
	rules, err := createRuleset(0, unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET)
	if err == nil {
		defer unix.Close(rules)
		err = restrictSelf(rules)
	}
	if err != nil {
		return fmt.Errorf("restricting sockets: %w", err)
	}
	return nil
}

// Scoped reports whether the kernel can deny programs abstract sockets and, at level Partial, signals to
// other processes, as Linux can from 6.12 on.
func Scoped() bool {
	version, err := landlocked()
	return err == nil && version >= scopesSince
}

// scopesSince names the first version of Landlock with scopes.
const scopesSince = 6

// landlocked returns the version of the kernel's Landlock, or an error if it is missing or disabled.
func landlocked() (version int, err error) {
	const askVersion = 1 // LANDLOCK_CREATE_RULESET_VERSION
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, askVersion)
	if errno != 0 {
		return 0, fmt.Errorf("detecting Landlock: %w", errno)
	}
	return int(v), nil
}
