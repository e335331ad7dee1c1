package shell

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/tasks/judge"
)

// The shell is the caller's if its file exists, and otherwise the backend's.
func TestShellOf(t *testing.T) {
	for _, test := range []struct {
		own     string
		can     backend.Capabilities
		command string
		want    []string // prefix of argv
		err     string
	}{
		{own: "/bin/bash", can: backend.Capabilities{Attach: true}, want: []string{"/bin/bash", "-i"}},
		{own: "/usr/bin/zsh", can: backend.Capabilities{Attach: true}, want: []string{"/usr/bin/zsh", "-f", "-i"}},
		{own: "bash", can: backend.Capabilities{Attach: true}, want: []string{"/bin/sh", "-c"}},
		{own: "/bin/bash", can: backend.Capabilities{Attach: true, OwnFiles: true}, want: []string{"/bin/sh", "-c"}},
		{own: "/bin/bash", command: "true", want: []string{"/bin/sh", "-c", "true"}},
		{own: "/bin/bash", err: "--command runs a command there"},
	} {
		var ran backend.Command
		b := fake.New(cache.NewMemory(), func(_ context.Context, c *fake.Call) (backend.Exit, error) {
			ran = c.Command
			return backend.Exit{}, nil
		})
		s, err := b.Open(t.Context(), backend.Spec{})
		if err != nil {
			t.Fatal(err)
		}
		m := &Maker{Environment: plan.Environment{LookupEnv: func(string) (string, bool) { return test.own, true }}}
		err = m.start(t.Context(), Request{Command: test.command, Out: io.Discard}, shellSession{Session: s, on: test.can,
			command: func(argv []string) backend.Command { return backend.Command{Argv: argv} }})
		switch {
		case test.err != "":
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%+v: %v", test, err)
			}
		case err != nil:
			t.Errorf("%+v: %v", test, err)
		case len(ran.Argv) < len(test.want) || !slices.Equal(ran.Argv[:len(test.want)], test.want) || ran.Attach != (test.command == ""):
			t.Errorf("%+v: ran %q, attached %v", test, ran.Argv, ran.Attach)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestCommandFails(t *testing.T) {
	b := fake.New(cache.NewMemory(), func(context.Context, *fake.Call) (backend.Exit, error) { return backend.Exit{Code: 7}, nil })
	s, err := b.Open(t.Context(), backend.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	m := &Maker{Environment: plan.Environment{LookupEnv: func(string) (string, bool) { return "", false }}}
	err = m.start(t.Context(), Request{Command: "exit 7", Out: io.Discard}, shellSession{Session: s,
		command: func(argv []string) backend.Command { return backend.Command{Argv: argv} }})
	if err == nil || !strings.Contains(err.Error(), "exit code 7") {
		t.Errorf("a command that fails: %v", err)
	}
}

// runScript runs the script of a case in a directory with a name that the shell could split.
func runScript(t *testing.T, c judge.ByHand, files map[string]string) (string, map[string]string) {
	t.Helper()
	sh, err := exec.LookPath("/bin/sh")
	if err != nil {
		t.Skip("there is no /bin/sh")
	}
	dir := filepath.Join(t.TempDir(), "a b")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	files[RunTests] = "#!/bin/sh\n" + caseScript(c)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(sh, filepath.Join(dir, RunTests), "argument").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	left := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() { // a pipe
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		left[e.Name()] = string(text)
	}
	return string(out), left
}

// The solution reads the case, and the checker what it printed; both statuses are shown.
func TestCaseScript(t *testing.T) {
	out, left := runScript(t, judge.ByHand{
		Solution: []string{"/bin/sh", "solution's.sh"},
		Tool:     []string{"/bin/sh", "-c", `read answer <` + judge.FileOut + `; echo "checker read $answer"; exit 1`},
	}, map[string]string{"solution's.sh": `read n; echo "$n $1"; exit 3`, judge.FileIn: "41\n"})
	if left[judge.FileOut] != "41 argument\n" {
		t.Errorf("the solution printed %q", left[judge.FileOut])
	}
	if want := "[solution: exit status 3]\nchecker read 41 argument\n[checker: exit status 1]\n"; out != want {
		t.Errorf("shown is %q, want %q", out, want)
	}
}

// The solution and the interactor read each other's output.
func TestCaseScriptTalks(t *testing.T) {
	out, _ := runScript(t, judge.ByHand{Talks: true,
		Solution: []string{"/bin/sh", "-c", `echo 6; read n; echo "solution read $n" >&2`},
		Tool:     []string{"/bin/sh", "-c", `read n; echo $((n * 7)); echo "interactor read $n" >&2`},
	}, map[string]string{})
	for _, want := range []string{"solution read 42\n", "interactor read 6\n", "[solution: exit status 0]\n", "[interactor: exit status 0]\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("shown is %q, without %q", out, want)
		}
	}
}
