package gojudge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/retry"
	"github.com/fevalgraph/fevalgraph/internal/seccomp"
)

// checkSupported reports whether a server can be started here.
func checkSupported() error { return nil }

// tie makes the process end with this thread, so that a killed run leaves none, and gives it a session
// without the terminal, so that only the run ends it, not an interrupt.
func tie(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}

// confine denies this thread, and thus the server and its programs, system calls that neither needs.
// Containers are reused: IPC objects of a program, whose memory counts for no program, would be visible to
// the next.
func confine() error {
	if err := (seccomp.Reach | seccomp.IPC).Install(); err != nil {
		return fmt.Errorf("filtering system calls: %w", err)
	}
	return nil
}

// controlGroups is the mount point of control groups.
const controlGroups = "/sys/fs/cgroup"

// groups returns the directories of the control groups of the server id: one in each hierarchy of version
// 1, or at most a scope in version 2.
func groups(id string) []string {
	var found []string
	for _, pattern := range []string{id, "*/" + id, "*/" + id + ".scope", "*/*/" + id + ".scope", "*/*/*/" + id + ".scope", "*/*/*/*/" + id + ".scope"} {
		at, _ := filepath.Glob(filepath.Join(controlGroups, pattern))
		found = append(found, at...)
	}
	return found
}

// Default weight of a control group, in version 1 and 2. A process outside of groups has the same weight.
var weights = []struct {
	file        string
	usual, most int
}{{"cpu.shares", 1024, 262144}, {"cpu.weight", 100, 10000}}

// weigh raises the weight of a server's control group, so that its programs compete for processors as
// individual processes instead of sharing the weight of one. This is best effort.
func weigh(id string, programs int) {
	for _, g := range groups(id) {
		for _, w := range weights {
			name := filepath.Join(g, w.file)
			if _, err := os.Stat(name); err == nil {
				_ = os.WriteFile(name, []byte(strconv.Itoa(min(programs*w.usual, w.most))), 0o644)
			}
		}
	}
}

// groupPatience limits how long control groups can be busy with dying processes.
const groupPatience = 2 * time.Minute

// removeGroups ends the processes in the control groups of a server and removes the groups.
func removeGroups(id string) error {
	busy := func(err error) bool { return errors.Is(err, syscall.EBUSY) }
	return retry.Patience{For: groupPatience, Pause: time.Millisecond, Longest: time.Second}.Do(context.Background(), busy, func() (left error) {
		for _, g := range groups(id) {
			left = errors.Join(left, removeGroup(g))
		}
		return left
	})
}

// removeGroup removes a control group with its descendants.
func removeGroup(top string) error {
	var dirs []string
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			dirs = append(dirs, path)
		}
		return ignoreGone(err)
	})
	slices.Reverse(dirs) // the deepest first
	for _, dir := range dirs {
		text, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for pid := range strings.FieldsSeq(string(text)) {
			if n, bad := strconv.Atoi(pid); bad == nil && n > 1 {
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
		if gone := ignoreGone(syscall.Rmdir(dir)); gone != nil {
			err = errors.Join(err, fmt.Errorf("removing control group %s: %w", dir, gone))
		}
	}
	return err
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) {
		return nil
	}
	return err
}

// Reap ends and removes the server of a dead run, for backend.Reap.
func Reap(ctx context.Context, e backend.Entry) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if !strings.HasPrefix(e.ID, "fevalgraph-") || filepath.Base(e.Workspace) != e.ID || !filepath.IsAbs(e.Workspace) {
		return fmt.Errorf("session %s: its registry entry is damaged; remove %q by hand", e.ID, e.Workspace)
	}
	if err := errors.Join(endServers(e.ID), removeGroups(e.ID), os.RemoveAll(e.Workspace)); err != nil {
		return fmt.Errorf("session %s: %w", e.ID, err)
	}
	return nil
}

// endServers ends the processes whose command lines name the control groups of a server.
func endServers(id string) error {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	mark := []byte("\x00-cgroup-prefix\x00" + id + "\x00")
	for _, e := range all {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid <= 1 || pid == os.Getpid() {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && bytes.Contains(line, mark) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return nil
}
