package pytest

import (
	"io"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
)

// Output of set-up commands and of tests is separate from the start, so tests cannot forge where their output begins.
func TestLogIsOfTheTestsAlone(t *testing.T) {
	const said = "$ setup\ninstalled\n[exit 0]\ncollected 1 item\n$ setup\n[exit 0]\n"
	s := newBench(t)
	s.run.Setup = []string{"setup"}
	s.setup = func(c *fake.Call) (backend.Exit, error) {
		io.WriteString(c.Command.Output, "collected 9 items\n")
		return backend.Exit{}, nil
	}
	s.tests = func(c *fake.Call) (backend.Exit, error) {
		io.WriteString(c.Command.Output, said)
		return backend.Exit{}, nil
	}
	_, outputs := s.execute()
	if outputs[OutputLog] != said || outputs[OutputSetup] != "$ setup\ncollected 9 items\n[exit 0]\n" {
		t.Errorf("the log is %q, the set-up's log %q", outputs[OutputLog], outputs[OutputSetup])
	}
	if got := s.box.Calls()[1].Command.Argv; got[0] != "/bin/sh" || got[1] != "-c" || got[2] != "setup" {
		t.Errorf("set-up is run as %q", got)
	}
}
