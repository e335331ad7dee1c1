package workspace

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/internal/ownthread"
)

// overlay is a mount over a workspace, in a mount namespace of its own. Nothing
// of it outlives the processes that have entered and the files that are open.
type overlay struct{ namespace *os.File }

// overlayOptions make an overlay behave like the directory that it covers, and cost
// no more. Directories of the lower layer can be renamed, files of both keep their
// numbers when they are written to, and nothing is synced that goes away anyhow.
const overlayOptions = "redirect_dir=on,index=off,metacopy=off,xino=auto,volatile"

// mountOverlay covers base with an overlay of itself over the lower directories,
// the first of which wins. It keeps what it needs in the new directory at work,
// which is on the file system of base. The directory hidden is empty for those who
// enter. The root is base as they see it.
func mountOverlay(base, work string, lower []string, hidden string) (o *overlay, root *os.Root, err error) {
	if err := os.Mkdir(work, 0o700); err != nil {
		return nil, nil, err
	}
	err = ownthread.Do(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return fmt.Errorf("making a mount namespace: %w", os.NewSyscallError("unshare", err))
		}
		// What is mounted here stays here; what others mount and unmount still
		// comes and goes here, too.
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
			return fmt.Errorf("making a mount namespace: %w", os.NewSyscallError("mount", err))
		}
		if err := coverWithOverlay(base, work, lower); err != nil {
			return err
		}
		if err := unix.Mount("none", hidden, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0555,size=4k"); err != nil {
			return fmt.Errorf("hiding %s: %w", hidden, os.NewSyscallError("mount", err))
		}
		if root, err = os.OpenRoot(base); err != nil {
			return err
		}
		namespace, err := os.Open("/proc/thread-self/ns/mnt")
		if err != nil {
			return errors.Join(err, root.Close())
		}
		o = &overlay{namespace: namespace}
		return nil
	})
	return o, root, err
}

// coverWithOverlay mounts for the thread. Directories are named by open files: a
// path could hold what separates options.
func coverWithOverlay(base, work string, lower []string) error {
	var opened []int
	defer func() {
		for _, fd := range opened {
			unix.Close(fd)
		}
	}()
	open := func(dir string) (string, error) {
		fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return "", &os.PathError{Op: "open", Path: dir, Err: err}
		}
		opened = append(opened, fd)
		return fmt.Sprintf("/proc/self/fd/%d", fd), nil
	}
	var names []string
	for _, dir := range append([]string{base, work}, lower...) {
		name, err := open(dir)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	flags, err := flagsOf(base)
	if err != nil {
		return err
	}
	options := fmt.Sprintf("upperdir=%s,workdir=%s,lowerdir=%s,%s", names[0], names[1], strings.Join(names[2:], ":"), overlayOptions)
	if err := unix.Mount("overlay", base, "overlay", flags, options); err != nil {
		return fmt.Errorf("mounting an overlay on %s: %w", base, os.NewSyscallError("mount", err))
	}
	return nil
}

// flagsOf are what the file system at dir does not allow.
func flagsOf(dir string) (flags uintptr, err error) {
	var state unix.Statfs_t
	if err := unix.Statfs(dir, &state); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	for _, f := range []struct{ state, mount uintptr }{
		{unix.ST_NOSUID, unix.MS_NOSUID}, {unix.ST_NODEV, unix.MS_NODEV}, {unix.ST_NOEXEC, unix.MS_NOEXEC},
	} {
		if uintptr(state.Flags)&f.state != 0 {
			flags |= f.mount
		}
	}
	return flags, nil
}

// enter makes the thread, which must be one of its own, see the overlay.
func (o *overlay) enter() error {
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("entering a mount namespace: %w", os.NewSyscallError("unshare", err))
	}
	if err := unix.Setns(int(o.namespace.Fd()), unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("entering a mount namespace: %w", os.NewSyscallError("setns", err))
	}
	return nil
}

func (o *overlay) close() error { return o.namespace.Close() }
