package docker

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
)

// shells are those of this machine that the script must run in.
func shells(t *testing.T) [][]string {
	var found [][]string
	for _, argv := range [][]string{{"dash"}, {"bash"}, {"bash", "--posix"}, {"busybox", "sh"}, {"sh"}} {
		if _, err := exec.LookPath(argv[0]); err == nil {
			found = append(found, argv)
		}
	}
	if len(found) == 0 {
		t.Fatal("this machine has no shell")
	}
	return found
}

// launchHere runs a launching script on this machine and returns what it says
// to the init and what the program prints.
func launchHere(t *testing.T, shell []string, script string) (said, printed string, code int) {
	t.Helper()
	cmd := exec.Command(shell[0], shell[1:]...)
	cmd.Stdin = strings.NewReader(script)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TINI_VERBOSITY=2", "CDPATH=/"}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestLaunch(t *testing.T) {
	top := t.TempDir()
	write := func(name, content string, mode os.FileMode) {
		name = filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	const show = "#!/bin/sh\npwd; for a; do printf '<%s>' \"$a\"; done; echo out; echo err >&2; exit 7\n"
	write("bin/show", show, 0o755)
	write("bin/plain", show, 0o644)
	write("bin/-x", show, 0o755)
	write("bin/a=b", show, 0o755)
	write("it's a dir/$HOME/show", show, 0o755)
	if err := os.Symlink("/", filepath.Join(top, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("bin", filepath.Join(top, "in")); err != nil {
		t.Fatal(err)
	}
	path := "PATH=bin:.:" + top + "/bin:/usr/bin:/bin"
	ready := func(dir string) string { return filepath.Join(top, dir) + "\n" }
	for _, test := range []struct {
		name string
		argv []string
		dir  string
		word string
		want string
	}{
		{"in PATH", []string{"show", "a b", "", "'\"$x`\\", "größe\n2"}, "", wordReady, ready("") + "<a b><><'\"$x`\\><größe\n2>out\nerr\n"},
		{"by its place", []string{"bin/show"}, "", wordReady, ready("") + "out\nerr\n"},
		{"from a directory", []string{"./show", "-n"}, "bin", wordReady, ready("bin") + "<-n>out\nerr\n"},
		{"directory with an odd name", []string{"./show"}, "it's a dir/$HOME", wordReady, ready("it's a dir/$HOME") + "out\nerr\n"},
		{"through a symlink that stays", []string{"./show"}, "in", wordReady, ready("bin") + "out\nerr\n"},
		{"a dash first", []string{"-x"}, "", wordReady, ready("") + "out\nerr\n"},
		{"an equals sign", []string{"./a=b", "c d"}, "bin", wordReady, ready("bin") + "<c d>out\nerr\n"},
		{"absent", []string{"no-such-program"}, "", wordAbsent, ""},
		{"absent place", []string{"./show"}, "", wordAbsent, ""},
		{"a directory", []string{"./bin"}, "", wordAbsent, ""},
		{"not executable", []string{"plain"}, "", wordRefused, ""},
		{"a relative PATH does not count", []string{"show"}, "bin", wordReady, ready("bin") + "out\nerr\n"},
		{"no directory", []string{"show"}, "absent", wordNoDir, ""},
		{"a file for a directory", []string{"show"}, "bin/show", wordNoDir, ""},
		{"outside", []string{"show"}, "out", wordOutside, ""},
	} {
		l := launch{top: top, command: backend.Command{Argv: test.argv, Dir: test.dir}, env: []string{path, "-u=1", "E=", "L=1\n2"}}
		script, err := l.script()
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		for _, shell := range shells(t) {
			said, printed, code := launchHere(t, shell, script)
			if want := wordPrefix + test.word + "\n"; said != want || printed != test.want {
				t.Errorf("%s in %v: said %q, printed %q; want %q, %q", test.name, shell, said, printed, want, test.want)
			}
			if want := map[bool]int{true: 7}[test.word == wordReady]; code != want {
				t.Errorf("%s in %v: exit code %d, want %d", test.name, shell, code, want)
			}
		}
	}
}

// The program's environment is what the launch says, to the byte, and its
// standard input is at its end.
func TestLaunchEnvironment(t *testing.T) {
	env := []string{"PATH=/usr/bin:/bin", "EMPTY=", "-x=dash", "a.b=dot", "LINES=1\n2", "QUOTE='\"", "EQ=a=b", "größe=ß", "BYTES=\xff"}
	l := launch{top: t.TempDir(), command: backend.Command{Argv: []string{"env", "-0"}}, env: env}
	script, err := l.script()
	if err != nil {
		t.Fatal(err)
	}
	for _, shell := range shells(t) {
		if _, printed, _ := launchHere(t, shell, script); printed != strings.Join(env, "\x00")+"\x00" {
			t.Errorf("%v: %q", shell, printed)
		}
	}
	l.command.Argv, l.env = []string{"sh", "-c", "echo $A"}, append(env, "A=of the image", "A=last")
	if script, err = l.script(); err != nil {
		t.Fatal(err)
	}
	for _, shell := range shells(t) {
		if _, printed, _ := launchHere(t, shell, script); printed != "last\n" {
			t.Errorf("%v: of two values, %q", shell, printed)
		}
	}
	l.command.Argv = []string{"cat"}
	if script, err = l.script(); err != nil {
		t.Fatal(err)
	}
	for _, shell := range shells(t) {
		if _, printed, code := launchHere(t, shell, script+"echo more of the script\n"); printed != "" || code != 0 {
			t.Errorf("%v: a program reads %q, %d", shell, printed, code)
		}
	}
}

// A locked workspace is opened again.
func TestLaunchLocked(t *testing.T) {
	top := t.TempDir()
	if err := os.Chmod(top, 0); err != nil {
		t.Fatal(err)
	}
	l := launch{top: top, command: backend.Command{Argv: []string{"pwd"}}, env: []string{"PATH=/usr/bin:/bin"}}
	script, err := l.script()
	if err != nil {
		t.Fatal(err)
	}
	if said, printed, _ := launchHere(t, []string{"sh"}, script); printed != top+"\n" {
		t.Errorf("said %q, printed %q", said, printed)
	}
}

func TestLaunchRefuses(t *testing.T) {
	for _, c := range []backend.Command{
		{}, {Argv: []string{""}}, {Argv: []string{"a\x00b"}},
		{Argv: []string{"a"}, Env: []string{"no name"}}, {Argv: []string{"a"}, Env: []string{"=x"}},
		{Argv: []string{"a"}, Dir: ".."}, {Argv: []string{"a"}, Dir: "/etc"},
	} {
		l := launch{top: "/w", command: c, env: c.Env}
		if script, err := l.script(); err == nil {
			t.Errorf("%+v:\n%s", c, script)
		}
	}
}

// The guard refuses on a machine with a network, which the tests' may not be:
// so it is read from files here.
func TestOfflineGuard(t *testing.T) {
	dir := t.TempDir()
	const header = "Iface\tDestination\n"
	lo := "00000000000000000000000000000001 01 80 10 80       lo\n"
	for _, test := range []struct {
		name, route, inet6 string
		refused            bool
	}{
		{"nothing", header, "", false},
		{"loopback", header, lo, false},
		{"a route", header + "eth0\t00000000\n", "", true},
		{"an address", header, lo + "fe800000000000000042acfffe110002 08 40 20 80     eth0\n", true},
	} {
		guard := offlineGuard("{ echo refused; exit 0; }") + "echo passed\n"
		for name, content := range map[string]string{"/proc/net/route": test.route, "/proc/net/if_inet6": test.inet6} {
			file := filepath.Join(dir, filepath.Base(name))
			if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			guard = strings.ReplaceAll(guard, name, file)
		}
		want := map[bool]string{true: "refused\n", false: "passed\n"}[test.refused]
		for _, shell := range shells(t) {
			if said, printed, _ := launchHere(t, shell, guard); said != want {
				t.Errorf("%s in %v: %q, %q", test.name, shell, said, printed)
			}
		}
	}
}
