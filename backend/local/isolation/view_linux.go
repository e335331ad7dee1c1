package isolation

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// machineRoot is the path of the machine's files while a view is created.
const machineRoot = "/.outside"

// enter replaces the files that this process and its children see by the view. The process must have a
// separate mount namespace. terminal shows /dev/tty as well.
func (v *View) enter(terminal bool) error {
	const stage = "/tmp" // any existing directory
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"keeping mounts private", func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, "") }},
		{"creating a root directory", func() error { return mountEmpty(stage, "mode=0755") }},
		{"creating a root directory", func() error { return os.Mkdir(stage+machineRoot, 0o700) }},
		{"changing the root directory", func() error { return unix.PivotRoot(stage, stage+machineRoot) }},
		{"changing the root directory", func() error { return os.Chdir("/") }},
		{"mounting /proc", mountProc},
		{"mounting /dev", func() error { return mountDevices(terminal) }},
		{"showing files", v.mount},
		{"leaving the machine's files", func() error { return unix.Unmount(machineRoot, unix.MNT_DETACH) }},
		{"leaving the machine's files", func() error { return os.Remove(machineRoot) }},
		{"protecting the root directory", func() error { return attributes("/", 0, unix.MOUNT_ATTR_RDONLY) }},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}

// mountKind is the kind of a mount. If two mounts have the same target, the later kind wins.
type mountKind int

const (
	hidden mountKind = iota
	readOnly
	overlaid
	writable
)

// mount is a mount of a view.
type mount struct {
	kind   mountKind
	source string // on this machine
	target string
	// changes is the Changes of an Overlay.
	changes string
}

// mounts returns the mounts of the view, parents first, without redundant ones.
func (v *View) mounts() []mount {
	var all []mount
	for _, path := range v.Hidden {
		all = append(all, mount{kind: hidden, target: path})
	}
	for _, p := range v.ReadOnly {
		all = append(all, mount{kind: readOnly, source: p.Source, target: p.Target})
	}
	for _, o := range v.Overlays {
		all = append(all, mount{kind: overlaid, source: o.Lower, target: o.Target, changes: o.Changes})
	}
	for _, path := range v.Writable {
		all = append(all, mount{kind: writable, source: path, target: path})
	}
	for _, p := range v.Places {
		all = append(all, mount{kind: writable, source: p.Source, target: p.Target})
	}
	if v.Temp != "" {
		all = append(all, mount{kind: writable, source: v.Temp, target: "/tmp"}, mount{kind: writable, source: v.Temp, target: "/var/tmp"})
	}
	slices.SortFunc(all, func(a, b mount) int {
		return cmp.Or(strings.Compare(a.target, b.target), cmp.Compare(b.kind, a.kind))
	})
	var shown []mount
	for _, m := range all {
		if n := len(shown); n > 0 && shown[n-1].target == m.target {
			continue
		}
		if above, ok := lastAbove(shown, m.target); ok && m.kind == readOnly && above.kind == readOnly && above.source == above.target {
			continue // it is visible there, or through a link
		}
		shown = append(shown, m)
	}
	return shown
}

// lastAbove returns the innermost of the mounts that contain target.
func lastAbove(mounts []mount, target string) (mount, bool) {
	for _, m := range slices.Backward(mounts) {
		if strings.HasPrefix(target, m.target+"/") {
			return m, true
		}
	}
	return mount{}, false
}

func (v *View) mount() error {
	for i, m := range v.mounts() {
		if err := m.mount(i); err != nil {
			return fmt.Errorf("%s: %w", m.target, err)
		}
	}
	return nil
}

func (m mount) mount(number int) error {
	source := filepath.Join(machineRoot, m.source)
	switch m.kind {
	case hidden:
		return hide(m.target)
	case overlaid:
		return overlay(source, m.target, m.changes, number)
	case writable:
		return bind(source, m.target, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	}
	info, err := os.Lstat(source)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil
	case err == nil && info.Mode()&fs.ModeSymlink != 0: // such as /bin
		to, err := os.Readlink(source)
		return errors.Join(err, os.Symlink(to, m.target))
	}
	return bind(source, m.target, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_RDONLY)
}

// hide makes a directory or a file appear empty, if it is visible.
func hide(target string) error {
	info, err := os.Lstat(target)
	switch {
	case err != nil:
		return nil
	case info.IsDir():
		return mountEmpty(target, "mode=0755")
	}
	return bind(machineRoot+os.DevNull, target, unix.MOUNT_ATTR_RDONLY)
}

// bind shows a file or directory with all mounts below it.
func bind(source, target string, set uint64) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if err := place(target, info.IsDir()); err != nil {
		return err
	}
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return attributes(target, unix.AT_RECURSIVE, set)
}

// place creates a mount point.
func place(target string, dir bool) error {
	if dir {
		return os.MkdirAll(target, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(target, os.O_RDONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

func attributes(target string, flags uint, set uint64) error {
	return os.NewSyscallError("mount_setattr", unix.MountSetattr(unix.AT_FDCWD, target, flags, &unix.MountAttr{Attr_set: set}))
}

func mountEmpty(target, options string) error {
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	return unix.Mount("tmpfs", target, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options)
}

// overlay shows a private copy of lower. Changes are kept in a directory of this machine or, if none is
// named or its file system does not support that, in memory.
func overlay(lower, target, changes string, number int) error {
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	places := []string{fmt.Sprintf("/.changes/%d", number)}
	if changes != "" {
		places = append([]string{filepath.Join(machineRoot, changes)}, places...)
	}
	var failed error
	for _, place := range places {
		upper, work := place+"/upper", place+"/work"
		options := "lowerdir=" + escapeOption(lower) + ",upperdir=" + escapeOption(upper) + ",workdir=" + escapeOption(work)
		if os.Geteuid() != 0 {
			options += ",userxattr"
		}
		failed = errors.Join(os.MkdirAll(upper, 0o755), os.MkdirAll(work, 0o755))
		if failed == nil {
			failed = unix.Mount("overlay", target, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options)
		}
		if failed == nil {
			return nil
		}
	}
	return failed
}

// escapeOption returns a path as a value of overlay's options.
func escapeOption(path string) string {
	return strings.NewReplacer(`\`, `\\`, `:`, `\:`, `,`, `\,`).Replace(path)
}
