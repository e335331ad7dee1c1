package pytest

import (
	"io"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
)

// Only the tests have the ports: set-up and uv keep the machine's network. The session's messages about them are not
// part of the tests' output.
func TestPorts(t *testing.T) {
	s := newBench(t)
	s.run.Setup, s.run.Ports = []string{"uv sync"}, []int{5432, 8080}
	s.tests = func(c *fake.Call) (backend.Exit, error) {
		io.WriteString(c.Command.Notes, "waiting\n")
		return passing(c)
	}
	_, outputs := s.execute()
	calls := s.box.Calls()
	for i, want := range []int{0, 0, 2} {
		if got := calls[i].Command.Ports; len(got) != want {
			t.Errorf("%q has the ports %v", calls[i].Command.Argv, got)
		}
	}
	if strings.Contains(outputs[OutputLog], "waiting") || !strings.HasSuffix(outputs[OutputSetup], "waiting\n") {
		t.Errorf("the log is %q, the set-up's log %q", outputs[OutputLog], outputs[OutputSetup])
	}
}

// Tests can distinguish the kinds of networks. Without ports there is only one.
func TestPortsInKey(t *testing.T) {
	key := func(network backend.Network, ports ...int) (key any, manifest string) {
		s := newBench(t)
		s.box.Net, s.run.Ports = network, ports
		return s.key()
	}
	private, manifest := key(backend.PrivateNetwork, 5432, 8080)
	if want := "ports: [\"5432\", \"8080\"]\nnetwork: private\n"; !strings.Contains(manifest, want) {
		t.Errorf("the manifest lacks %q:\n%s", want, manifest)
	}
	shared, _ := key(backend.SharedNetwork, 5432, 8080)
	other, _ := key(backend.PrivateNetwork, 8080)
	without, manifest := key(backend.PrivateNetwork)
	if private == shared || private == other || private == without {
		t.Error("ports or network are not in the key")
	}
	if again, _ := key(backend.SharedNetwork); again != without || strings.Contains(manifest, "network") {
		t.Errorf("the network is in the key without ports:\n%s", manifest)
	}
}
