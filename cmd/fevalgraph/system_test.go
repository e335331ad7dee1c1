//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// systemCommands returns the commands that change more than files. A script whose request the machine refuses ends
// there, with a note in its log.
//
//	mountfull DIR SIZE      a file system of that size, such as 1m (root only)
//	mountwith DIR OPTION    a file system with the option noexec or nosuid (root only)
//	unmount DIR             what a command above mounted last
//	mountreadonly DIR       what is in DIR, not to be changed (root only)
//	unreadable FILE         a file whose bytes cannot be read, by root neither
//	readable FILE           undo that
//	badname DIR             a file whose name is not UTF-8
//	pipe FILE               a named pipe
//	socket FILE             a socket, until the script ends
//	device FILE             a character device (root only)
//	damage DIR              spoil the content of every file below DIR
//	noleftovers             no workspace of a session is left
func systemCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"mountfull": func(ts *testscript.TestScript, neg bool, args []string) {
			mountOver(ts, args[0], func(dir string) error { return mountSmall(dir, args[1]) })
		},
		"mountwith": func(ts *testscript.TestScript, neg bool, args []string) {
			mountOver(ts, args[0], func(dir string) error { return mountWith(dir, args[1]) })
		},
		"unmount": func(ts *testscript.TestScript, neg bool, args []string) {
			ts.Check(unmount(ts.MkAbs(args[0])))
		},
		"mountreadonly": func(ts *testscript.TestScript, neg bool, args []string) {
			mountOver(ts, args[0], mountReadOnly)
		},
		"unreadable": unreadableCommand,
		"readable": func(ts *testscript.TestScript, neg bool, args []string) {
			if os.Getuid() == 0 {
				ts.Check(unmount(ts.MkAbs(args[0])))
			}
			ts.Check(os.Chmod(ts.MkAbs(args[0]), 0o644))
		},
		"badname": func(ts *testscript.TestScript, neg bool, args []string) {
			err := os.WriteFile(filepath.Join(ts.MkAbs(args[0]), "a\xffb.txt"), nil, 0o644)
			if err != nil {
				impossible(ts, "this file system takes no names that are not UTF-8: %v", err)
			}
		},
		"pipe": func(ts *testscript.TestScript, neg bool, args []string) {
			ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o644))
		},
		"socket": func(ts *testscript.TestScript, neg bool, args []string) {
			// Paths of sockets are short: the directory is named by a descriptor.
			dir, err := os.Open(filepath.Dir(ts.MkAbs(args[0])))
			ts.Check(err)
			defer dir.Close()
			l, err := net.Listen("unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(args[0])))
			if err != nil {
				impossible(ts, "making a socket: %v", err)
			}
			ts.Defer(func() { l.Close() })
		},
		"device": func(ts *testscript.TestScript, neg bool, args []string) {
			const null = 1<<8 | 3
			if err := syscall.Mknod(ts.MkAbs(args[0]), syscall.S_IFCHR|0o644, null); err != nil {
				impossible(ts, "making a device takes root: %v", err)
			}
		},
		"damage":      damageCommand,
		"noleftovers": noLeftoversCommand,
	}
}

// mountOver mounts over dir until the script ends.
func mountOver(ts *testscript.TestScript, dir string, mount func(dir string) error) {
	dir = ts.MkAbs(dir)
	ts.Check(os.MkdirAll(dir, 0o755))
	if err := mount(dir); err != nil {
		impossible(ts, "mounting takes Linux and root: %v", err)
	}
	ts.Defer(func() { _ = unmount(dir) }) // the script can have done it
}

// unreadableCommand removes the read permission; for root, who ignores it, it mounts a file whose reads fail.
func unreadableCommand(ts *testscript.TestScript, neg bool, args []string) {
	file := ts.MkAbs(args[0])
	if os.Getuid() != 0 {
		ts.Check(os.Chmod(file, 0))
		return
	}
	if err := mountUnreadable(file); err != nil {
		impossible(ts, "mounting takes Linux and root: %v", err)
	}
	ts.Defer(func() { _ = unmount(file) }) // the script can have done it
}

// impossible skips the script, with the reason in the log.
func impossible(ts *testscript.TestScript, format string, args ...any) {
	skip := ts.Value(skipKey{}).(func(...any))
	skip(fmt.Sprintf("NOT TESTED HERE: "+format, args...))
}

// skipKey is where setUp leaves the test's Skip.
type skipKey struct{}

func damageCommand(ts *testscript.TestScript, neg bool, args []string) {
	err := filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if err := os.Chmod(path, 0o644); err != nil {
			return err
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteAt([]byte("\x00\x01damaged"), 0)
		return err
	})
	ts.Check(err)
}

func noLeftoversCommand(ts *testscript.TestScript, neg bool, args []string) {
	workspaces, err := filepath.Glob(filepath.Join(ts.Getenv("TMPDIR"), "fevalgraph-*", "*"))
	ts.Check(err)
	if len(workspaces) > 0 {
		ts.Fatalf("workspaces are left: %s", strings.Join(workspaces, " "))
	}
}
