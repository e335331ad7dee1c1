// Package lightcpkind makes judge servers from blocks of the configuration.
package lightcpkind

import (
	"github.com/fevalgraph/fevalgraph/backend/lightcp"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Kind is the kind "lightcp".
func Kind() kind.Kind { return kind.Kind{Name: lightcp.Kind, New: open, Asks: asks} }

func asks(b *lang.Backend) []string { return []string{"talk to " + b.LightCP.Endpoint} }

func open(_ *kind.Site, b *lang.Backend, _ []string) (plan.Executor, error) {
	client, err := lightcp.New(b.LightCP.Endpoint, b.LightCP.Timeout)
	if err != nil {
		return plan.Executor{}, err
	}
	return plan.Executor{Server: lightcp.NewServer(client)}, nil
}
