package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/cache"
)

// secret must not be found by any command.
const secret = "it-is-not-for-submissions"

// attacks are scripts that print HELD, each in a separate session. $HERE is a directory of the caller with the
// files home/secret, scratch/other/work/file and project/test.
var attacks = []struct {
	name, script string
	full         bool // level Partial does not hold it; see docs/backends/local.md
}{
	{"environment of the parent", `tr '\0' '\n' </proc/$PPID/environ | grep -q ` + secret + ` || echo HELD`, false},
	{"environment of every process", `cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -q ` + secret + ` || echo HELD`, false},
	{"descriptors of the caller", `ls -l /proc/self/fd | grep -q home/secret || echo HELD`, false},
	{"descriptors of other processes", `ls -l /proc/[0-9]*/fd 2>/dev/null | grep -q home/secret || echo HELD`, false},
	{"home directory", `[ ! -e $HERE/home/secret ] || ! cat $HERE/home/secret || exit; echo HELD`, false},
	{"another cell's files", `cat $HERE/scratch/other/work/file || { echo x >$HERE/scratch/other/work/file; } || echo HELD`, false},
	{"names of other cells", `ls $HERE/scratch | grep -q other || echo HELD`, false},
	{"the project's tests", `cat $HERE/project/test || echo HELD`, false},
	{"a file of the system", `for f in /etc/fevalgraph-test /usr/fevalgraph-test /fevalgraph-test; do ! touch $f || exit; done; echo HELD`, false},
	{"passwords of the system", `[ -z "$(cat /etc/shadow /etc/gshadow 2>/dev/null)" ] && echo HELD`, true},
	{"files that only root can read", `for f in $(find /etc -type f ! -perm -o=r 2>/dev/null); do [ -z "$(cat $f 2>/dev/null | tr -d "\\0")" ] || exit; done; echo HELD`, true},
	{"ending the caller", `kill -0 $CALLER || echo HELD`, true},
	{"ending process 1", `trap '' TERM; for s in $(seq 64); do kill -$s 1 2>/dev/null; done; sleep 0.05; echo HELD`, true},
	{"ending process 1 while it starts a program", `kill -34 1; kill -32 1; sleep 0.05; echo HELD`, true},
	{"seeing other processes", `[ "$(ls -d /proc/[0-9]* | wc -l)" -lt 12 ] && echo HELD`, true},
	{"reading the memory of process 1", `head -c1 /proc/1/mem || echo HELD`, false},
	{"forging its own end", `printf 'e\0\0\0\0' >&4 || echo HELD`, false},
	{"settings of the kernel", `! echo x >/proc/sys/kernel/core_pattern 2>/dev/null && ! echo h >/proc/sysrq-trigger && echo HELD`, false},
	{"mounting", `mount -t tmpfs none $PWD || echo HELD`, false},
	{"unmounting", `umount /proc || echo HELD`, false},
	{"making devices", `mknod null c 1 3 || echo HELD`, false},
	{"making a file immutable", `: >file; chattr +i file 2>/dev/null || echo HELD`, false},
	{"giving a file away", `: >file; chown 1 file || echo HELD`, false},
	{"capabilities", `grep -q 'CapEff:.*[1-9a-f]' /proc/self/status || echo HELD`, false},
	{"another root directory", `chroot / true || echo HELD`, false},
	{"rewriting the tests", `for do in 'echo x >tests/test.py' 'rm -rf tests' 'mv tests other' 'chmod -R 777 tests' 'mv ../work ../other' 'rm -f pytest.ini' 'ln -sf /dev/null pytest.ini'; do ! sh -c "$do" || exit; done; [ "$(cat tests/test.py)" = honest ] && echo HELD`, true},
	{"leaving a process", `(env -i /bin/sh -c 'ulimit -S -x 7; exec setsid sleep ` + survivor + `' >/dev/null 2>&1 &); echo HELD`, true},
}

// survivor is an argument of a process that must not survive.
const survivor = "271828182"

func TestAttacks(t *testing.T) {
	t.Setenv("FEVALGRAPH_TEST_SECRET", secret)
	here := t.TempDir()
	for _, file := range []string{"home/secret", "scratch/other/work/file", "project/test"} {
		path := filepath.Join(here, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A file that this process has open, and that its children would inherit.
	inherited, err := unix.Open(filepath.Join(here, "home/secret"), unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(inherited)
	for _, level := range []isolation.Level{isolation.Full, isolation.Partial} {
		t.Run(string(level), func(t *testing.T) {
			need(t, level)
			b := local.New(cache.NewMemory(), local.Options{
				Confinement: local.Confinement{Isolation: string(level), Home: filepath.Join(here, "home"), Hidden: []string{filepath.Join(here, "project")}},
				Lifecycle:   local.Lifecycle{Scratch: filepath.Join(here, "scratch")},
				Probes:      local.Probes{Path: backendtest.Path},
			})
			for _, attack := range attacks {
				if attack.full && level != isolation.Full {
					continue
				}
				t.Run(attack.name, func(t *testing.T) {
					s, err := b.Open(t.Context(), backend.Spec{Inputs: []backend.Input{
						{Path: "tests/test.py", Content: []byte("honest")}, {Path: "pytest.ini", Content: []byte("[pytest]")},
					}, ReadOnly: []string{"tests", "pytest.ini"}})
					if err != nil {
						t.Fatal(err)
					}
					defer s.Close(t.Context())
					var out bytes.Buffer
					env := []string{"PATH=" + backendtest.Path, "WHERE=x" + here, fmt.Sprint("CALLER=", os.Getpid())}
					exit, err := s.Exec(t.Context(), backend.Command{
						Argv: []string{"sh", "-c", "HERE=${WHERE#x}\n" + attack.script}, Env: env, Output: &out,
					})
					if err != nil || !strings.HasSuffix(out.String(), "HELD\n") {
						t.Errorf("got %+v, %v: %s", exit, err, out.String())
					}
					if alive := processesWith(t, survivor); alive != "" {
						t.Errorf("alive: %s", alive)
					}
				})
			}
		})
	}
}

// Paths in the environment are visible, except those that a submission created and closed ones.
func TestNamedPaths(t *testing.T) {
	here := t.TempDir()
	for _, file := range []string{"home/.ssh/key", "home/.ssh/other", "data/big"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(here, file)), 0o700), os.WriteFile(filepath.Join(here, file), []byte(secret), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(here, "home"), filepath.Join(here, "link")); err != nil {
		t.Fatal(err)
	}
	for _, level := range []isolation.Level{isolation.Full, isolation.Partial} {
		t.Run(string(level), func(t *testing.T) {
			need(t, level)
			s := open(t, local.Options{Confinement: local.Confinement{Isolation: string(level), Home: filepath.Join(here, "home")}, Lifecycle: local.Lifecycle{Scratch: filepath.Join(here, "scratch")}, Probes: local.Probes{Path: backendtest.Path}}, backend.Spec{})
			env := []string{"PATH=" + backendtest.Path, "ASSET=" + s.Dir() + "/asset", "DATA=" + here + "/data", "KEY=" + here + "/home/.ssh/key", "LINK=" + here + "/link", "TOP=" + here}
			in := func(script string) string {
				t.Helper()
				var out bytes.Buffer
				if _, err := s.Exec(t.Context(), backend.Command{Argv: []string{"sh", "-c", script}, Env: env, Output: &out}); err != nil {
					t.Fatal(err)
				}
				return strings.TrimSpace(out.String())
			}
			in("ln -s $KEY/../../.. asset")
			in("rm asset; ln -s ${KEY%/.ssh/key} asset")
			for script, want := range map[string]string{
				"cat $DATA/big": secret, "cat $KEY": secret,
				"cat ${KEY%key}other 2>/dev/null": "", "cat $ASSET/.ssh/other 2>/dev/null": "", "cat $LINK/.ssh/other 2>/dev/null": "", "ls $TOP/home/.ssh 2>/dev/null | grep other": "",
			} {
				if got := in(script); got != want {
					t.Errorf("%s: got %q, want %q", script, got, want)
				}
			}
		})
	}
}

// A command that is cancelled leaves no open file behind.
func TestCancelledLeavesNoFile(t *testing.T) {
	need(t, isolation.Full)
	s := open(t, local.Options{Confinement: local.Confinement{Isolation: "full"}, Lifecycle: local.Lifecycle{Scratch: t.TempDir()}, Probes: local.Probes{Path: backendtest.Path}}, backend.Spec{})
	files := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	cancelled := func() {
		ctx, cancel := context.WithCancel(t.Context())
		begun, tell, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer begun.Close()
		go func() {
			_, _ = begun.Read(make([]byte, 1))
			cancel()
		}()
		_, err = s.Exec(ctx, backend.Command{Argv: []string{"sh", "-c", "echo; sleep 1000"}, Output: tell})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		tell.Close()
	}
	cancelled() // opened once for all
	before := files()
	for range 5 {
		cancelled()
	}
	if after := files(); after > before {
		t.Errorf("%d files were open, and %d afterwards", before, after)
	}
}

// processesWith lists the commands of this machine that have an argument.
func processesWith(t *testing.T, argument string) (found string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte("\x00"+argument+"\x00")) {
			found += strings.ReplaceAll(string(line), "\x00", " ")
		}
	}
	return found
}

// A submission has a private copy of uv's cache, and pytest one without access of submissions.
func TestOwnCache(t *testing.T) {
	need(t, isolation.Full)
	here := t.TempDir()
	shared := filepath.Join(here, "uv")
	if err := os.Mkdir(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shared, "pytest"), []byte("honest"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, local.Options{Confinement: local.Confinement{Isolation: "full"}, Lifecycle: local.Lifecycle{Scratch: filepath.Join(here, "scratch")}, Probes: local.Probes{Path: backendtest.Path}}, backend.Spec{})
	in := func(script string) string {
		t.Helper()
		var out bytes.Buffer
		exit, err := s.Exec(t.Context(), backend.Command{
			Argv: []string{"sh", "-c", script, "sh", shared}, Env: []string{"PATH=" + backendtest.Path, "UV_CACHE_DIR=" + shared}, Output: &out,
		})
		if err != nil || exit.Code != 0 {
			t.Errorf("got %+v, %v: %s", exit, err, out.String())
		}
		return strings.TrimSpace(out.String())
	}
	in(`for d in $UV_CACHE_DIR $1; do echo forged >$d/pytest; echo wheel >$d/new; done`)
	if got := in(`cat $UV_CACHE_DIR/pytest $UV_CACHE_DIR/new $1/pytest; ls $1`); got != "forged\nwheel\nhonestpytest" {
		t.Errorf("a later command sees %q", got)
	}
	if kept, err := os.ReadFile(filepath.Join(shared, "pytest")); err != nil || string(kept) != "honest" {
		t.Errorf("the caller's cache has %q, %v", kept, err)
	}
}

func TestReadOnly(t *testing.T) {
	need(t, isolation.Full)
	backendtest.TestReadOnly(t, opener(isolation.Full, ""))
}

func TestPlaces(t *testing.T) {
	need(t, isolation.Full)
	backendtest.TestPlaces(t, opener(isolation.Full, ""))
}

// A PATH into the home directory shows programs and their dependencies, but no files next to them.
func TestHomeInPath(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	shown := []string{
		".docker/bin/tool", ".gem/ruby/3.4.0/bin/tool", ".own/bin/tool", ".own/lib/part", ".local/bin/tool", ".local/lib/part",
		".nvm/versions/node/v24/bin/tool", ".nvm/nvm.sh", ".pyenv/bin/tool", ".pyenv/versions/3.14/bin/python", ".pyenv/libexec/pyenv",
		".cargo/bin/tool", ".rustup/toolchains/stable/bin/rustc", ".dotnet/tools/tool", ".dotnet/shared/part", ".asdf/shims/tool", ".asdf/installs/tool/1/bin/tool",
		".local/share/uv/tools/linked/bin/linked", ".local/share/uv/tools/linked/lib/part", "conda/bin/tool", "conda/lib/part", "conda/share/part",
	}
	closed := []string{
		".docker/config.json", ".gem/credentials", ".own/token", ".own/data/token", ".local/share/keyrings/key", ".local/state/key",
		".cargo/credentials.toml", ".cargo/config.toml", ".dotnet/corefx/cryptography/key", ".rye/credentials", ".ssh/key", ".netrc",
	}
	for _, file := range append(slices.Clone(shown), closed...) {
		path := filepath.Join(home, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(secret), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../share/uv/tools/linked/bin/linked", filepath.Join(home, ".local/bin/linked")); err != nil {
		t.Fatal(err)
	}
	search := backendtest.Path
	for _, file := range shown {
		if dir := filepath.Dir(file); filepath.Base(file) == "tool" {
			search += ":" + filepath.Join(home, dir)
		}
	}
	for _, level := range []isolation.Level{isolation.Full, isolation.Partial} {
		t.Run(string(level), func(t *testing.T) {
			need(t, level)
			s := open(t, local.Options{Confinement: local.Confinement{Isolation: string(level), Home: home}, Lifecycle: local.Lifecycle{Scratch: t.TempDir()}, Probes: local.Probes{Path: backendtest.Path}}, backend.Spec{})
			seen := func(file string) bool {
				t.Helper()
				var out bytes.Buffer
				if _, err := s.Exec(t.Context(), backend.Command{
					Argv: []string{"sh", "-c", `cat "${0#x}" 2>/dev/null`, "x" + filepath.Join(home, file)}, Env: []string{"PATH=" + search}, Output: &out,
				}); err != nil {
					t.Fatal(err)
				}
				return out.String() == secret
			}
			for _, file := range shown {
				if !seen(file) {
					t.Errorf("a program needs %s", file)
				}
			}
			for _, file := range closed {
				if seen(file) {
					t.Errorf("%s can be read", file)
				}
			}
		})
	}
}
