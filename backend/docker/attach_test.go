//go:build unix

package docker_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
)

const attachedVariable = "DOCKER_TEST_ATTACHED"

// TestAttached runs only as a program of TestAttach.
func TestAttached(t *testing.T) {
	if os.Getenv(attachedVariable) == "" {
		t.Skip("run by TestAttach")
	}
	b, _ := opener(daemon(t), docker.Options{Origin: docker.Origin{Image: baseImage}, Reach: docker.Reach{Network: "none"}})(t)
	s := open(t, b, backend.Spec{Inputs: []backend.Input{{Path: "d/f", Content: []byte("x")}}})
	cmd := sh(os.Getenv(attachedVariable))
	cmd.Dir, cmd.Attach = "d", true
	exit, err := s.Exec(t.Context(), cmd)
	fmt.Printf("exit %d %v\n", exit.Code, err)
	// It leaves a session that works.
	fmt.Printf("afterwards %s\n", output(t, s, sh("cat d/*")))
	cmd.Argv = []string{"no-such-program"}
	exit, err = s.Exec(t.Context(), cmd)
	fmt.Printf("absent %d %v\n", exit.Code, err)
}

func attached(script string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestAttached$")
	cmd.Env = append(os.Environ(), attachedVariable+"="+script)
	return cmd
}

func TestAttach(t *testing.T) {
	daemon(t)
	cmd := attached(`ls; read line; echo "got $line"; echo also >&2; test -t 0 && echo terminal; id -u; (setsid sleep 1000 &); echo y > g; exit 3`)
	cmd.Stdin = strings.NewReader("one\n")
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	for _, want := range []string{"f\n", "got one\n", "also\n", "1000\n", "exit 3 <nil>\n", "afterwards xy\n", "executable file not found", "\nabsent 12"} {
		if !strings.Contains(string(said), want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
	if strings.Contains(string(said), "terminal") {
		t.Errorf("unexpected terminal:\n%s", said)
	}
}

func TestAttachTerminal(t *testing.T) {
	daemon(t)
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := pty.Setsize(master, &pty.Winsize{Rows: 33, Cols: 77}); err != nil {
		t.Fatal(err)
	}
	// The size comes a moment after the terminal; until then busybox reports an error and exits with 0.
	cmd := attached(`test -t 0 && test -t 1 && echo ready; read line; until stty size 2>/dev/null | grep .; do sleep 0.1; done; echo "got $line"; trap 'echo interrupted; exit 4' INT; echo waiting; while :; do sleep 0.1; done`)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	guard := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() })
	defer guard.Stop()
	answers := map[string]string{"ready": "one\r", "waiting": "\x03"}
	var shown []string
	for lines := bufio.NewScanner(master); lines.Scan(); {
		line := strings.TrimSuffix(lines.Text(), "\r")
		shown = append(shown, line)
		if answer := answers[line]; answer != "" {
			if _, err := master.WriteString(answer); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = cmd.Wait()
	text := strings.Join(shown, "\n")
	for _, want := range []string{"33 77", "got one", "interrupted", "exit 4 <nil>"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q was not shown (%v):\n%s", want, err, text)
		}
	}
}
