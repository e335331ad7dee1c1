package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fevalgraph/fevalgraph/eval/exit"
)

// call runs the program in an environment.
func call(env map[string]string, args ...string) (code int, out, err string) {
	var stdout, stderr bytes.Buffer
	code = Main(args, IO{In: strings.NewReader(""), Out: &stdout, Err: &stderr, LookupEnv: func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}})
	return code, stdout.String(), stderr.String()
}

// TestUsage checks that errors in flags and arguments result in exit code 2 and a message with the value, before
// anything is read.
func TestUsage(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args string
		env  map[string]string
		want string // parts of stderr, separated by |
	}{
		{"plan --unknown", nil, "unknown flag: --unknown|`fevalgraph plan --help`"},
		{"plan --jsn", nil, "did you mean --json?"},
		{"plan -Z", nil, "unknown flag: |-Z"},
		{"plan -j", nil, "needs a value"},
		{"plan -j many", nil, "--jobs many: want a number"},
		{"plan -j 0", nil, "-j 0: want at least 1"},
		{"plan -j -2", nil, "-j -2: want at least 1"},
		{"plan --json=perhaps", nil, "--json perhaps: want true or false"},
		{"plan --color blue", nil, "blue"},
		{"plan --progress loud", nil, "loud"},
		{"plan --cache local:x", nil, "--cache local:x: want local:rw"},
		{"plan --cache :r", nil, "--cache :r: want"},
		{"plan --cache local:r,", nil, "--cache local:r,: want"},
		{"plan", map[string]string{"FEVALGRAPH_JOBS": "0"}, "FEVALGRAPH_JOBS=0: want"},
		{"plan", map[string]string{"FEVALGRAPH_JOBS": "2.5"}, "FEVALGRAPH_JOBS=2.5: want"},
		{"plan", map[string]string{"FEVALGRAPH_PROGRESS": "loud"}, "loud"},
		{"version extra", nil, "version takes no arguments: extra"},
		{"init a b", nil, "init: too many arguments: b"},
		{"cache gcc", nil, `unknown command "gcc" of cache; did you mean gc?`},
		{"trust --revoke --list", nil, "--revoke and --list exclude each other"},
		{"init --kind nothing", nil, "nothing"},
	} {
		code, out, err := call(c.env, append([]string{"-C", dir}, strings.Fields(c.args)...)...)
		if code != int(exit.Usage) || out != "" {
			t.Errorf("%s: exit code %d, stdout %q", c.args, code, out)
		}
		for part := range strings.SplitSeq(c.want, "|") {
			if !strings.Contains(err, part) {
				t.Errorf("%s: stderr lacks %q:\n%s", c.args, part, err)
			}
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v are left, %v", entries, err)
	}
}

// TestHelp checks that the help of a command lists only global flags that mean something for it.
func TestHelp(t *testing.T) {
	for _, c := range []struct {
		args    string
		has     string
		hasNone string
	}{
		{"plan --help", "--jobs --trust --var", "--progress --offline"},
		{"runs --help", "--chdir --json", "--var --jobs --cache"},
		{"cache gc --help", "--chdir --var", "--jobs --offline"}, // as its parent
		{"--help", "--jobs --progress --offline", ""},
	} {
		code, out, err := call(nil, strings.Fields(c.args)...)
		if code != 0 || err != "" {
			t.Errorf("%s: exit code %d, %s", c.args, code, err)
		}
		for _, flag := range strings.Fields(c.has) {
			if !strings.Contains(out, flag+" ") {
				t.Errorf("%s lacks %s", c.args, flag)
			}
		}
		for _, flag := range strings.Fields(c.hasNone) {
			if strings.Contains(out, "      "+flag+" ") || strings.Contains(out, ", "+flag+" ") {
				t.Errorf("%s lists %s", c.args, flag)
			}
		}
	}
}

// TestFlagUsers checks that the commands and flags of flagUsers exist.
func TestFlagUsers(t *testing.T) {
	root := (&app{io: IO{Out: &bytes.Buffer{}, LookupEnv: func(string) (string, bool) { return "", false }}}).rootCommand()
	names := map[string]bool{}
	for _, c := range root.Commands() {
		names[c.Name()] = true
	}
	for flag, users := range flagUsers {
		if root.PersistentFlags().Lookup(flag) == nil {
			t.Errorf("no global flag --%s", flag)
		}
		for _, name := range users {
			if !names[name] {
				t.Errorf("--%s: no command %s", flag, name)
			}
		}
	}
}

func TestCaches(t *testing.T) {
	for _, c := range []struct {
		flag     string
		readOnly bool
		remotes  string // NAME:MODE; "all" when nil
	}{
		{"", false, "all"},
		{"local:rw", false, ""},
		{"local", false, ""},
		{"local:r", true, ""},
		{"local:r,team:rw", true, "team:rw"},
		{"team", false, "team:"},
	} {
		a := &app{flags: globalFlags{cache: c.flag}}
		readOnly, remotes, err := a.caches()
		got := "all"
		if remotes != nil {
			got = ""
			for name, mode := range remotes {
				got += name + ":" + mode
			}
		}
		if err != nil || readOnly != c.readOnly || got != c.remotes {
			t.Errorf("--cache %q: read only %v, remotes %q, %v", c.flag, readOnly, got, err)
		}
	}
}

// TestComplain maps errors to exit codes.
func TestComplain(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		code exit.Class
		want string // all of stderr
	}{
		{"success", nil, exit.Passed, ""},
		{"of cobra", errors.New("bad"), exit.Usage, "fevalgraph: bad\n  hint: `fevalgraph --help` shows the commands\n"},
		{"with a class", exit.With(exit.NotJudged, errors.New("bad")), exit.NotJudged, "fevalgraph: bad\n"},
		{"printed already", exit.With(exit.Failed, nil), exit.Failed, ""},
		{"of a full disk", fmt.Errorf("writing: %w", syscall.ENOSPC), exit.NotJudged, "*"},
		{"of a judged run on a full disk", exit.With(exit.Failed, syscall.ENOSPC), exit.Failed, "*"},
		{"interrupted", exit.With(exit.NotJudged, errInterrupted), exit.Interrupted, ""},
		{"that steers a terminal", exit.With(exit.Usage, errors.New("a\x1b[2Jb")), exit.Usage, "*"},
	} {
		var stderr bytes.Buffer
		a := &app{io: IO{Out: &bytes.Buffer{}, Err: &stderr, LookupEnv: func(string) (string, bool) { return "", false }}}
		if got := a.complain(c.err); got != c.code {
			t.Errorf("%s: exit code %d, want %d", c.name, got, c.code)
		}
		if got := stderr.String(); c.want != "*" && got != c.want || strings.Contains(got, "\x1b") {
			t.Errorf("%s: stderr %q, want %q", c.name, got, c.want)
		}
	}
}

func TestBug(t *testing.T) {
	var stderr bytes.Buffer
	code := Main([]string{"plan"}, IO{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &stderr, LookupEnv: func(name string) (string, bool) {
		if name == "FEVALGRAPH_JOBS" {
			panic("an assumption is wrong")
		}
		return "", false
	}})
	if code != int(exit.Bug) || !strings.Contains(stderr.String(), "an assumption is wrong") || !strings.Contains(stderr.String(), "FEVALGRAPH_DEBUG=1") {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
}

func TestInit(t *testing.T) {
	dir, absolute := t.TempDir(), filepath.Join(t.TempDir(), "evals")
	for _, c := range []struct {
		name, arg, want string
	}{
		{"relative to -C", "evals", filepath.Join(dir, "evals")},
		{"absolute", absolute, absolute},
	} {
		if code, _, err := call(nil, "-C", dir, "init", c.arg); code != 0 {
			t.Errorf("%s: exit code %d, %s", c.name, code, err)
		}
		if _, err := os.Stat(filepath.Join(c.want, "fevalgraph.hcl")); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// If one of the files exists, none is written.
	main := filepath.Join(dir, "evals", "fevalgraph.hcl")
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "evals")), os.Mkdir(filepath.Join(dir, "evals"), 0o755), os.WriteFile(main, []byte("# mine\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := call(nil, "-C", dir, "init", "evals")
	text, err := os.ReadFile(main)
	entries, listed := fs.ReadDir(os.DirFS(filepath.Join(dir, "evals")), ".")
	if code != int(exit.Usage) || !strings.Contains(stderr, main) || string(text) != "# mine\n" || len(entries) != 1 || err != nil || listed != nil {
		t.Errorf("exit code %d, %s; fevalgraph.hcl is %q, %d files", code, stderr, text, len(entries))
	}
}
