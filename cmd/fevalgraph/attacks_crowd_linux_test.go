package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
	"github.com/fevalgraph/fevalgraph/internal/testkit/ramdir"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// crowding maps problems and solutions to the file name and text of a program. A name with a number stands for that
// many correct solutions; the others exhaust a resource, and are wrong.
type crowding map[string]string

// fillsFile fills the file system of its workspace, and holds it full while others need room.
const fillsFile = `import os, time
f = open("big", "wb", buffering=0)
try:
    while True: f.write(b"x" * (1 << 16))
except OSError: pass
time.sleep(1)
`

// TestCrowded judges correct solutions next to others that exhaust the file system of workspaces and of the store, for
// a moment or until they end, the processes, the memory, or what the kernel limits for each user, or that lease the
// files which all read. The former pass, and the latter get a verdict.
func TestCrowded(t *testing.T) {
	if os.Getenv(realVariable) == "" {
		t.Skip("needs Python and go-judge; make attacks has them")
	}
	t.Parallel()
	t.Run("disk", func(t *testing.T) {
		t.Parallel()
		place, _ := ramdir.Sized(t, "64m")
		crowding{
			"grade/fills":       "main.py:" + fillsFile + "print('no')\n",
			"grade/fills_again": "main.py:" + fillsFile + "os.unlink('big'); print('no')\n",
			"grade/unlinks":     "main.py:" + strings.Replace(fillsFile, "time.sleep", "os.unlink('big'); time.sleep", 1) + "print('no')\n",
			"judge/fills":       "main.cpp:#include <cstdio>\nint main() { for (int i = 0; i < 60 << 20; i++) putchar('a' + i % 7); }\n",
			"judge/fills_again": "main.cpp:#include <cstdio>\nint main() { for (int i = 0; i < 50 << 20; i++) putchar('a' + i % 5); }\n",
			"grade/right%d": `main.py:import sys, time # %[1]d
for _ in range(30):
    with open("work", "wb") as f: f.write(b"x" * (1 << 20))
    time.sleep(0.05)
print(sum(map(int, sys.argv[1:])))
`,
			"judge/right%d": "main.cpp:#include <iostream>\nint main() { long a, b; std::cin >> a >> b; std::cout << a + b << '\\n'; } // %[1]d\n",
		}.judge(t, place, nil)
	})
	right := `main.py:import subprocess, sys, time # %[1]d
for _ in range(10):
    b = bytearray(30 << 20)
    subprocess.run(["true"], check=True)
    time.sleep(0.1)
print(sum(map(int, sys.argv[1:])))
`
	t.Run("leases", func(t *testing.T) {
		t.Parallel()
		crowding{"grade/leases": `main.py:import fcntl, glob, os, signal, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
for name in glob.glob(os.path.dirname(os.__file__) + "/*.py"):
    file = os.open(name, os.O_RDONLY)
    for kind in (fcntl.F_WRLCK, fcntl.F_RDLCK):
        try: fcntl.fcntl(file, fcntl.F_SETLEASE, kind); break
        except OSError: pass
time.sleep(20)
print("no")
`, "grade/right%d": `main.py:import glob, os, sys, time # %[1]d
end, longest = time.monotonic() + 4, 0
while time.monotonic() < end:
    for name in glob.glob(os.path.dirname(os.__file__) + "/*.py"):
        began = time.monotonic()
        open(name).close()
        longest = max(longest, time.monotonic() - began)
print(sum(map(int, sys.argv[1:])) if longest < 10 else "slow")
`}.judge(t, realPath(t), nil)
	})
	t.Run("user limits", func(t *testing.T) { // next to no other test, whose cells they would break
		crowding{"grade/terminals": `main.py:import os, time
held = []
try:
    while True: held.append(os.openpty())
except OSError: pass
time.sleep(3)
print("no")
`, "grade/instances": `main.py:import ctypes, time
while ctypes.CDLL(None).inotify_init() >= 0: pass
time.sleep(3)
print("no")
`, "grade/signals": `main.py:import ctypes, os, signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
while ctypes.CDLL(None).sigqueue(os.getpid(), signal.SIGRTMIN, None) == 0: pass
time.sleep(3)
print("no")
`, "grade/right%d": `main.py:import ctypes, os, signal, sys, time # %[1]d
libc = ctypes.CDLL(None)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
for _ in range(20):
    for fd in os.openpty(): os.close(fd)
    fd = libc.inotify_init()
    if fd < 0: raise OSError("inotify")
    os.close(fd)
    if libc.sigqueue(os.getpid(), signal.SIGRTMIN, None) < 0: raise OSError("signals")
    signal.sigwait([signal.SIGRTMIN])
    time.sleep(0.1)
print(sum(map(int, sys.argv[1:])))
`}.judge(t, realPath(t), nil)
	})
	t.Run("user limits of messages and pipes", func(t *testing.T) { // of the same kind
		crowding{"grade/descriptors": `main.py:import socket, time
held = []
try:
    while True:
        pair = socket.socketpair()
        held.append(pair)
        socket.send_fds(pair[0], [b"x"], [pair[1].fileno()] * 250)
except OSError: pass
time.sleep(5)
print("no")
`, "grade/pipes": `main.py:import fcntl, os, time
held = []
try:
    while True:
        held.append(os.pipe())
        fcntl.fcntl(held[-1][0], fcntl.F_SETPIPE_SZ, 1 << 20)
except OSError: pass
time.sleep(5)
print("no")
`, "grade/right%d": `main.py:import fcntl, os, socket, sys, time # %[1]d
for _ in range(20):
    pair, pipe = socket.socketpair(), os.pipe()
    socket.send_fds(pair[0], [b"x"], [0])
    received = socket.recv_fds(pair[1], 1, 1)[1]
    if fcntl.fcntl(pipe[0], fcntl.F_GETPIPE_SZ) < 1 << 16: raise OSError("pipes")
    for end in pair: end.close()
    for file in (*received, *pipe): os.close(file)
    time.sleep(0.1)
print(sum(map(int, sys.argv[1:])))
`}.judge(t, realPath(t), nil)
	})
	t.Run("processes", func(t *testing.T) {
		t.Parallel()
		crowding{"grade/right%d": right, "grade/forks": `main.py:import os, time
end = time.time() + 2
while time.time() < end:
    try:
        if os.fork() == 0:
            time.sleep(3)
            os._exit(0)
    except OSError: time.sleep(0.01)
print("no")
`}.judge(t, realPath(t), limited(t, "pids", "pids.max", "pids.max", "200"))
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		crowding{"grade/right%d": right, "grade/allocates": `main.py:
all = [bytearray(1 << 20) for _ in range(2000)]
print("no")
`}.judge(t, realPath(t), limited(t, "memory", "memory.limit_in_bytes", "memory.max", "600M"))
	})
}

func realPath(t *testing.T) string {
	t.Helper()
	place, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return place
}

// limited makes a control group with a limit, of version 1 or 2, and returns what starts a command in it.
func limited(t *testing.T, controller, legacy, unified, limit string) []string {
	t.Helper()
	group, file := filepath.Join("/sys/fs/cgroup", controller), legacy
	if _, err := os.Stat(group); err != nil {
		group, file = "/sys/fs/cgroup", unified
	}
	group, err := os.MkdirTemp(group, "fevalgraph-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		await.Until(t, "all processes have left the group", func() bool { return os.Remove(group) == nil })
	})
	if err := os.WriteFile(filepath.Join(group, file), []byte(limit), 0); err != nil {
		t.Fatal(err)
	}
	return []string{"/bin/sh", "-c", `echo $$ >"$0/cgroup.procs"; exec "$@"`, group}
}

// judge judges the solutions with all files of the run at place, and with before as prefix of its command.
func (p crowding) judge(t *testing.T, place string, before []string) {
	t.Helper()
	const rights = 4
	c := copyCheckout(t, filepath.Join("testdata", "attacks"), place)
	patientLimits.set(t, c.dir)
	names := map[string][]string{"add": {}, "confined": {}, "grade": {}, "imported": {}, "judge": {}, "lenient": {}, "tested": {}, "verify": {}}
	for name, program := range p {
		file, text, _ := strings.Cut(program, ":")
		for i := range rights {
			name, text := name, text
			if numbered := strings.Contains(name, "%"); numbered {
				name, text = fmt.Sprintf(name, i), fmt.Sprintf(text, i)
			} else if i > 0 {
				break
			}
			problem, solution, _ := strings.Cut(name, "/")
			names[problem] = append(names[problem], solution)
			path := filepath.Join(c.dir, "solutions", problem, solution, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.append("fevalgraph.hcl", `
suite "grade" {
  matrix {
    solution = [solution.grade]
    backend  = [backend.local.host]
  }
}
suite "judge" {
  matrix {
    solution = [solution.judge]
    backend  = [backend.gojudge.judge]
  }
}
`)
	listed, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	_, programs, _ := strings.Cut(os.Getenv("PATH"), string(filepath.ListSeparator)) // without the stand-ins
	c.env = append(c.env, "FEVALGRAPH_ISOLATION=full", "FEVALGRAPH_VAR_solutions="+string(listed), "PATH="+filepath.Dir(os.Getenv(judgeVariable))+":"+programs)
	cmd := c.command("run", "-j", strconv.Itoa(rights))
	if before != nil {
		cmd.Path, cmd.Args = before[0], slices.Concat(before, []string{cmd.Path}, cmd.Args[1:])
	}
	_ = cmd.Run() // results contain the errors
	var results report.Results
	if err := json.Unmarshal([]byte(c.lastKnown()), &results); err != nil {
		t.Fatalf("%v\n%s", err, output(cmd))
	}
	right := 0
	for _, cell := range results.Cells {
		point := cell.Checkpoints[0]
		passed := point.Score != nil && *point.Score >= 1
		if strings.HasPrefix(cell.Solution, "right") {
			right++
			if passed {
				continue
			}
		} else if !passed && (point.Class == verdict.Judged || point.Class == verdict.Refused || point.Class == verdict.NoScore) {
			continue
		}
		t.Errorf("%s/%s: %s", cell.Problem, cell.Solution, attackMessage(cell))
	}
	if right == 0 || right%rights != 0 || right == len(results.Cells) {
		t.Errorf("%d correct ones of %d", right, len(results.Cells))
	}
	if t.Failed() {
		t.Log(output(cmd))
	}
}
