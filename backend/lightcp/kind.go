package lightcp

import (
	"time"

	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// BackendKind returns the kind "lightcp".
func BackendKind() kind.Kind { return kind.Kind{Name: Kind, Block: block(), New: open, Asks: asks} }

func asks(b *lang.Backend) []string {
	return []string{"talk to " + lang.AttributesOf[attributes](b).Endpoint}
}

func open(_ *kind.Site, b *lang.Backend, _ []string) (plan.Executor, error) {
	a := lang.AttributesOf[attributes](b)
	client, err := New(a.Endpoint, a.Timeout)
	if err != nil {
		return plan.Executor{}, err
	}
	return plan.Executor{Server: NewServer(client)}, nil
}

// attributes holds the attributes of a block.
type attributes struct {
	Endpoint string        `hcl:"endpoint" keys:"-"` // "http://127.0.0.1:8081"
	Timeout  time.Duration `hcl:"timeout" keys:"-"`  // for a result; 0 means no limit
}

// block returns the blocks of backend "lightcp".
func block() lang.BackendKind {
	return lang.BackendKind{Attributes: attributes{}, NoCommands: "A lightcp backend hands submissions to a server", Schema: lang.BlockSchema{
		Name: Kind,
		Doc:  "A judge server that has the problems and grades whole submissions.",
		Attributes: []lang.AttributeSchema{
			{Name: "endpoint", Type: lang.TypeText, Form: lang.FormEndpoint, Required: true, Doc: "Address of the server, such as \"http://127.0.0.1:8081\"."},
			{Name: "timeout", Type: lang.TypeDuration, Default: `"1h"`, Doc: "Time limit for a result; null means no limit."},
		},
	}}
}
