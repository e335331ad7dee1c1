package kinds

import (
	"github.com/fevalgraph/fevalgraph/backend/lightcp"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// lightCPKind returns the kind "lightcp".
func lightCPKind() kind.Kind {
	return kind.Kind{Name: lightcp.Kind, New: openLightCP, Asks: askLightCP}
}

func askLightCP(b *lang.Backend) []string { return []string{"talk to " + b.LightCP.Endpoint} }

func openLightCP(_ *kind.Site, b *lang.Backend, _ []string) (plan.Executor, error) {
	client, err := lightcp.New(b.LightCP.Endpoint, b.LightCP.Timeout)
	if err != nil {
		return plan.Executor{}, err
	}
	return plan.Executor{Server: lightcp.NewServer(client)}, nil
}
