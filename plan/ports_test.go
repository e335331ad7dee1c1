package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
)

// Tests with ports exclude one another where they share a network.
func TestPorts(t *testing.T) {
	config := strings.Replace(problem, `pytest { root = "tests" }`, "pytest {\n root = \"tests\"\n ports = [8080, 53]\n}", 1)
	for _, test := range []struct {
		config  string
		network backend.Network
		want    []string
	}{
		{config, backend.SharedNetwork, []string{"port 53", "port 8080"}},
		{config, backend.PrivateNetwork, nil},
		{problem, backend.SharedNetwork, nil},
	} {
		p := newProject(t, test.config)
		p.boxes["local.one"].Net = test.network
		p.compile()
		for id := range graph.ID(p.plan.Graph.Len()) {
			n := p.plan.Graph.Node(id)
			want := test.want
			if n.Kind != KindPytest {
				want = nil
			}
			if !slices.Equal(n.Exclusive, want) {
				t.Errorf("%s network: %s has %q for itself, want %q", test.network, n.Addr, n.Exclusive, want)
			}
		}
	}
}
