//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// systemCalls counts the system calls of a program.
type systemCalls struct {
	executed  []string // programs, without the first
	contacted []string // calls that connect to other machines' addresses, or this one's
	written   []string // absolute paths that were created, changed or removed, even without success
}

// tracedCalls are the calls that a trace is of.
const tracedCalls = "execve,execveat,connect,openat,open,creat,mkdir,mkdirat,unlink,unlinkat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mknod,mknodat,truncate,fchmodat,fchownat"

// withStrace runs a command under strace. The file can be read after its end.
func withStrace(t *testing.T, cmd *exec.Cmd) (file string) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatalf("needs strace; make test-all installs it: %v", err)
	}
	file = filepath.Join(t.TempDir(), "trace")
	cmd.Args = append([]string{strace, "-f", "-qq", "-y", "-s", "4096", "-o", file, "-e", "trace=" + tracedCalls, "--", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = strace
	return file
}

var (
	tracedCall = regexp.MustCompile(`^\d+ +(\w+)\((.*)`)
	tracedPath = regexp.MustCompile(`(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"`)
)

// readSystemCalls reads what strace wrote.
func readSystemCalls(t *testing.T, file string) (all systemCalls) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		m := tracedCall.FindStringSubmatch(line)
		if m == nil { // the end of a call that another one came between, or of a process
			continue
		}
		call, args := m[1], m[2]
		var paths []string
		for _, p := range tracedPath.FindAllStringSubmatch(args, -1) {
			path := p[2]
			if !filepath.IsAbs(path) {
				path = filepath.Join(p[1], path)
			}
			paths = append(paths, path)
		}
		switch {
		case call == "connect":
			if strings.Contains(args, "AF_INET") {
				all.contacted = append(all.contacted, strings.TrimSpace(args))
			}
		case strings.HasPrefix(call, "execve"):
			all.executed = append(all.executed, paths[0])
		case strings.Contains(args, "O_TMPFILE"): // it has no name, and the directory stays as it is
		case !strings.HasPrefix(call, "open") || strings.Contains(args, "O_WRONLY") || strings.Contains(args, "O_RDWR") || strings.Contains(args, "O_CREAT"):
			all.written = append(all.written, paths...)
		}
	}
	if len(all.executed) == 0 {
		t.Fatalf("the trace has not even the program: %s", text)
	}
	all.executed = all.executed[1:]
	return all
}

// outside lists the paths that are below none of some directories.
func outside(paths []string, dirs ...string) []string {
	return slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(paths))), func(path string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") })
	})
}

// Traces contain what the tests look for.
func TestSystemCalls(t *testing.T) {
	if os.Getenv(realVariable) == "" {
		t.Skip("needs strace; make test-all has it")
	}
	cmd := exec.Command("/bin/sh", "-c", "/usr/bin/env true; cd sub && echo >made && mv made moved; exec /usr/bin/env bash -c ': </dev/tcp/127.0.0.1/1' 2>/dev/null")
	cmd.Dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(cmd.Dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := withStrace(t, cmd)
	_ = cmd.Run()
	all := readSystemCalls(t, file)
	if !slices.Contains(all.executed, "/usr/bin/env") || len(all.contacted) == 0 {
		t.Errorf("executed %q, contacted %q", all.executed, all.contacted)
	}
	made := filepath.Join(cmd.Dir, "sub")
	if got := outside(all.written, "/dev"); !slices.Equal(got, []string{made + "/made", made + "/moved"}) {
		t.Errorf("wrote %q", got)
	}
	if got := outside(all.written, "/dev", made); len(got) > 0 {
		t.Errorf("outside of %s: %q", made, got)
	}
}
