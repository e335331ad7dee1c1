package isolation

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// mountProc mounts a /proc with the processes of this namespace. Settings of the machine
// are read-only: for some of them, the kernel checks only for user 0, and no capability.
func mountProc() error {
	if err := os.Mkdir("/proc", 0o755); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return err
	}
	for _, name := range []string{"sys", "sysrq-trigger", "irq", "bus", "fs", "scsi", "acpi"} {
		path := "/proc/" + name
		err := bind(path, path, unix.MOUNT_ATTR_RDONLY)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// devices lists the devices that all programs can use.
var devices = []string{"null", "zero", "full", "random", "urandom"}

// graphics are patterns of the devices of graphics cards.
var graphics = []string{"nvidia*", "dri", "kfd"}

// mountDevices makes a /dev with harmless devices and those of graphics cards, and the
// caller's terminal if terminal is true. Pseudo terminals are the view's own.
func mountDevices(terminal bool) error {
	if err := mountEmpty("/dev", "mode=0755"); err != nil {
		return err
	}
	show := slices.Clone(devices)
	if terminal {
		show = append(show, "tty")
	}
	for _, pattern := range graphics {
		found, _ := filepath.Glob(filepath.Join(machineRoot, "dev", pattern))
		for _, path := range found {
			show = append(show, filepath.Base(path))
		}
	}
	for _, name := range show {
		err := bind(filepath.Join(machineRoot, "dev", name), "/dev/"+name, 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for link, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(target, "/dev/"+link); err != nil {
			return err
		}
	}
	if err := mountEmpty("/dev/shm", "mode=1777"); err != nil {
		return err
	}
	if err := os.Mkdir("/dev/pts", 0o755); err != nil {
		return err
	}
	// The kernel has 3,072 pseudo terminals for all views together.
	return unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,max=256")
}
