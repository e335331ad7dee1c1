package docker_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
	"github.com/fevalgraph/fevalgraph/cache"
)

// A program that fills the disk only affects itself; its space is free after the session.
func TestDiskFull(t *testing.T) {
	d := daemon(t)
	small := t.TempDir()
	if err := syscall.Mount("none", small, "tmpfs", 0, "size=32m"); err != nil {
		t.Skipf("needs a small file system, and so root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(small, 0); err != nil {
			t.Error(err)
		}
	})
	b := docker.New(cache.NewMemory(), d, docker.Options{Program: program, Origin: docker.Origin{Image: baseImage}, Reach: docker.Reach{Network: "none"}, Lifecycle: docker.Lifecycle{Scratch: small, Project: "test", Run: t.Name(), Grace: 300 * time.Millisecond}})
	for range 2 {
		s := open(t, b, backend.Spec{Inputs: []backend.Input{{Path: "f", Content: []byte("x")}}})
		cmd, out := sh(`dd if=/dev/zero of=fill bs=64k 2>&1; echo x > "$HOME/more" || exit 3`), bytes.Buffer{}
		cmd.Output, cmd.Timeout = &out, guard
		exit, err := s.Exec(t.Context(), cmd)
		if err != nil || exit.Code != 3 || !strings.Contains(out.String(), "No space left on device") {
			t.Errorf("got %+v, %v: %s", exit, err, out.String())
		}
		if got := output(t, s, sh("rm fill; cat f")); got != "x" {
			t.Errorf("afterwards: %q", got)
		}
		output(t, s, sh("dd if=/dev/zero of=fill bs=64k 2>/dev/null || true"))
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(small); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// Everything that a program writes, even as root, vanishes with its session and is invisible to other sessions.
func TestRootLeavesNothing(t *testing.T) {
	d := daemon(t)
	const mess = `echo x >/etc/mess; echo x >/bin/mess; echo x >/tmp/mess
mkdir -p a/b && echo x >a/b/c && chmod 0 a/b/c a/b a; mkdir locked; echo x >locked/f; chmod 0 locked
mkfifo pipe; ln -s /etc/passwd link; chmod 4755 /bin/mess; echo x >"$HOME/mess"; chmod 0 "$HOME" .`
	for _, byCopy := range []bool{false, true} {
		b, _ := opener(d, docker.Options{Origin: docker.Origin{Image: baseImage}, Reach: docker.Reach{Network: "none"}, Privileges: docker.Privileges{User: "root"}, Copy: byCopy})(t)
		s := open(t, b, backend.Spec{Inputs: []backend.Input{{Path: "d/f", Content: []byte("x")}}})
		output(t, s, sh(mess))
		if got := output(t, s, sh("cat /etc/mess d/f; ls -A | wc -l")); strings.Join(strings.Fields(got), " ") != "x x5" && strings.Join(strings.Fields(got), " ") != "x x 5" {
			t.Errorf("copied %v: the session's next command sees %q", byCopy, got)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("copied %v: closing: %v", byCopy, err)
		}
		other := open(t, b, backend.Spec{})
		if got := output(t, other, sh(`ls -A . "$HOME" /etc/mess /bin/mess /tmp/mess 2>/dev/null | grep -c mess; true`)); got != "0" {
			t.Errorf("copied %v: another session sees %s files", byCopy, got)
		}
	}
}

// Set-up commands of a submission cannot affect the tests: none of their processes survives, in any session or group,
// and the problem's files replace links, locked directories and unwritable reports at their paths.
func TestSetUpLeavesNoHold(t *testing.T) {
	d := daemon(t)
	const lurk = `while :; do
	for f in tests/test_a.py tests/data/answers reports/report.json; do echo forged >"$f"; done
	echo lives >lurking; sleep 0.05
done 2>/dev/null`
	for name, attack := range map[string]string{
		"processes": `for run in setsid nohup ""; do $run sh -c "$LURK" </dev/null >/dev/null 2>&1 & done; (trap "" TERM HUP INT; sh -c "$LURK" &) &
mkdir tests; cp /bin/sh tests/sh; (tests/sh -c "$LURK" </dev/null >/dev/null 2>&1 &); echo forged >/dev/shm/left; sleep 0.2`,
		"files":       `mkdir -p tests/data reports; for f in tests/test_a.py tests/conftest.py tests/data/answers reports/report.json; do echo forged >$f; chmod 444 $f; done; chmod 555 tests/data tests reports`,
		"links":       `mkdir "$HOME/t" "$TMPDIR/r"; echo forged >"$HOME/t/test_a.py"; ln -s "$HOME/t" tests; ln -s "$TMPDIR/r" reports; ln -s /etc/passwd pytest.ini`,
		"links below": `mkdir -p tests reports "$HOME/d"; ln -s "$HOME/d" tests/data; ln -s ../pytest.ini reports/report.json; mkfifo pytest.ini`,
		"locked":      `mkdir -p tests/data reports/a/b; echo forged >tests/data/answers; chmod 0 tests/data tests reports/a reports`,
		"the root":    `echo forged >tests; echo forged >reports; mkdir -p pytest.ini/x; chmod 0 pytest.ini; chmod 555 .`,
		"names with spaces": `mkdir -p "tests/ a" "tests/-rf" "tests/
b"; chmod 0 "tests/ a" tests`,
	} {
		for _, byCopy := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, copied %v", name, byCopy), func(t *testing.T) { // the backend returns its network when the session ends
				b, store := opener(d, docker.Options{Origin: docker.Origin{Image: baseImage}, Copy: byCopy})(t)
				s := open(t, b, backend.Spec{Inputs: []backend.Input{{Path: "main", Content: []byte("x")}}})
				setUp := sh(attack)
				setUp.Env = append(setUp.Env, "LURK="+lurk)
				setUp.Online = true
				output(t, s, setUp)
				place(t, s, store)
				got := output(t, s, sh(`rm -f lurking; sleep 0.3
cat tests/test_a.py tests/data/answers pytest.ini; ls -A tests reports /dev/shm
[ ! -e lurking ] || echo lurking
for f in tests/test_a.py reports; do [ -w $f ] && [ ! -L $f ] || echo $f; done
echo real >reports/report.json`))
				if want := "test answer ini reports: tests: data test_a.py /dev/shm:"; sorted(got) != sorted(want) {
					t.Errorf("got %q", got)
				}
				report, err := s.Collect(t.Context(), "reports/report.json")
				if err != nil {
					t.Fatal(err)
				}
				if text, err := io.ReadAll(report); string(text) != "real\n" || err != nil {
					t.Errorf("the report is %q, %v", text, err)
				}
				report.Close()
			})
		}
	}
}

// sorted returns the words of a text in their order.
func sorted(text string) string {
	words := strings.Fields(text)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// place copies a problem's files over existing ones, as tasks do.
func place(t *testing.T, s backend.Session, store cache.Store) {
	t.Helper()
	tree := func(files map[string]string) cache.Digest {
		var entries []cache.Entry
		for name, text := range files {
			digest, err := cache.PutBytes(t.Context(), store, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, cache.Entry{Path: name, Digest: digest})
		}
		made, err := cache.BuildTree(entries)
		if err == nil {
			err = made.Store(t.Context(), store)
		}
		if err != nil {
			t.Fatal(err)
		}
		return made.Root
	}
	err := s.Place(t.Context(),
		backend.Input{Path: "tests", Tree: tree(map[string]string{"test_a.py": "test\n"}), Replace: true},
		backend.Input{Path: "tests", Tree: tree(map[string]string{"data/answers": "answer\n"})},
		backend.Input{Path: "reports", Tree: tree(nil), Replace: true},
		backend.Input{Path: "pytest.ini", Content: []byte("ini\n"), Replace: true},
	)
	if err != nil {
		t.Fatal(err)
	}
}

// No command, not even as root, can end, change or impersonate the first process, which ends the judging command and
// reports how it ended.
func TestRunnerIsOutOfReach(t *testing.T) {
	d := daemon(t)
	const attack = `
import ctypes, os, resource, signal, sys
sys.stdout.reconfigure(line_buffering=True)
libc = ctypes.CDLL(None, use_errno=True)
for s in range(1, 65):
    try: os.kill(1, s)
    except OSError: pass
    try: os.kill(-1, 0)
    except OSError: pass
for name in ("RLIMIT_CPU", "RLIMIT_NOFILE", "RLIMIT_AS", "RLIMIT_FSIZE"):
    try:
        resource.prlimit(1, getattr(resource, name), (0, 0)); print("limited", name)
    except OSError: pass
if libc.ptrace(16, 1, 0, 0) == 0: print("traced")
for name in ("mem", "fd/0", "fd/1", "fd/2", "environ", "root/fevalgraph/blobs"):
    for flags in (os.O_RDONLY, os.O_WRONLY):
        try: os.open("/proc/1/" + name, flags); print("opened", name)
        except OSError: pass
for s in (signal.SIGSEGV, signal.SIGBUS, signal.SIGQUIT, signal.SIGKILL, signal.SIGSTOP, signal.SIGPROF, signal.SIGURG):
    for task in os.listdir("/proc/1/task"):
        libc.syscall(200, int(task), int(s))
try: os.setuid(61186); print("became it")
except OSError: pass
if os.getuid() == 0 and os.path.exists("/fevalgraph/runner"):
    try: open("/fevalgraph/runner", "wb"); print("changed the program")
    except OSError: pass
print("r\0\0\0\2{}")
os._exit(7)
`
	for _, o := range []docker.Options{{}, {Privileges: docker.Privileges{User: "0:0"}}, {Copy: true, Privileges: docker.Privileges{User: "0:0"}}} {
		o.Image = pythonImage
		b, _ := opener(d, o)(t)
		s := open(t, b, backend.Spec{})
		for range 2 {
			var out bytes.Buffer
			exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"python3", "-c", attack}, Output: &out, Timeout: guard})
			if err != nil || exit.Code != 7 || exit.Signal != "" || out.String() != "r\x00\x00\x00\x02{}\n" {
				t.Errorf("user %q, copied %v: %+v, %v, %q", o.User, o.Copy, exit, err, out.String())
			}
		}
	}
}
