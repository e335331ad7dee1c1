package local_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache"
)

const terminalVariable = "LOCAL_TEST_TERMINAL" // scratch directory of TestOnTerminal

// TestOnTerminal runs only as a program of TestAttach, on a terminal: two attached commands with its own
// question after each.
func TestOnTerminal(t *testing.T) {
	scratch := os.Getenv(terminalVariable)
	if scratch == "" {
		t.Skip("run by TestAttach")
	}
	s, err := local.New(cache.NewMemory(), local.Options{Lifecycle: local.Lifecycle{Scratch: scratch}, Probes: local.Probes{Path: backendtest.Path}}).Open(t.Context(), backend.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	input := bufio.NewReader(os.Stdin)
	var ports []int
	if local.PrivateNetwork() == nil {
		ports = []int{8080}
	}
	for _, command := range []struct {
		script string
		ports  []int
	}{{`read line; echo "command got $line"; exit 3`, nil}, {`echo interrupt me; exec sleep 1000`, ports}} {
		exit, err := s.Exec(t.Context(), backend.Command{
			Argv: []string{"sh", "-c", `test -t 0 && test -t 1 && ` + command.script}, Attach: true, Ports: command.ports,
		})
		fmt.Printf("exit %d %q %v\n", exit.Code, exit.Signal, err)
		line, err := input.ReadString('\n') // stops us unless we have the terminal back
		fmt.Printf("caller got %s %v\n", strings.TrimSpace(line), err)
	}
}

func TestAttach(t *testing.T) {
	master, slave := terminal(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestOnTerminal$")
	cmd.Env = append(os.Environ(), terminalVariable+"="+t.TempDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	guard := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() })
	defer guard.Stop()

	if _, err := master.WriteString("one\n"); err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{ // what to type once a line appears
		`exit 3 "" <nil>`:           "two\n",
		"interrupt me":              "\x03",
		`exit -1 "interrupt" <nil>`: "three\n",
	}
	var shown []string
	for lines := bufio.NewScanner(master); lines.Scan(); {
		line := strings.TrimSuffix(lines.Text(), "\r")
		shown = append(shown, line)
		if answer, asked := answers[strings.TrimPrefix(line, "^C")]; asked {
			if _, err := master.WriteString(answer); err != nil {
				t.Fatal(err)
			}
		}
	}
	err := cmd.Wait()
	for _, want := range []string{"command got one", "caller got two <nil>", "caller got three <nil>"} {
		found := false
		for _, line := range shown {
			found = found || line == want
		}
		if !found {
			t.Errorf("%q was not shown (%v):\n%s", want, err, strings.Join(shown, "\n"))
		}
	}
}

// terminal opens a pseudo terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}
