// Package kind defines kinds of backends for the application: how a kind makes backends of blocks, what is
// needed to identify them, and how leftovers are found and ended.
//
// A kind is a Kind in a folder below package backend, or in backend/kinds if programs without the language use
// the backend, and a line in backend/kinds. No other package knows a kind by name, or the attributes of its
// blocks. A Site is the shared environment of a project's backends.
package kind

import (
	"context"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Kind is a kind of backend, as named by blocks of the configuration. A nil function means that the kind has
// nothing to do.
type Kind struct {
	Name string
	// Block describes blocks of the kind. It is zero for the kind that is part of the language.
	Block lang.BackendKind
	// New makes the backend of a block; env is the environment of its probes. It must not start a machine,
	// since plans make backends, too. Resources that it keeps between sessions are closed with the site: see
	// Site.OnClose.
	New func(s *Site, b *lang.Backend, env []string) (plan.Executor, error)
	// Asks lists the parts of a block that identifying the backend needs and that the project chooses:
	// commands, programs and images to run, servers to contact; as texts that a user can judge. A call with
	// read access queries the backend only if the project is trusted with all of them.
	Asks func(b *lang.Backend) []string
	// Tools returns environment variables, KEY=value, that tell tools where their files are.
	Tools func(lookupEnv func(string) (string, bool)) []string
	// Environments is the path at which commands see the Python environments that sessions share; "" means a
	// directory next to the store.
	Environments string
	// Reap returns a function that ends a session of the kind that a crashed run left.
	Reap func(lookupEnv func(string) (string, bool)) func(context.Context, backend.Entry) error
	// Doctor checks what the kind needs besides its blocks; the site is closed afterwards. cfg is nil if the
	// configuration is invalid. asked means that containers must be checked even if the configuration does not
	// use them.
	Doctor func(ctx context.Context, s *Site, cfg *lang.Config, asked bool) []Finding
	// Check checks for the doctor what a block needs, if the project is trusted with its Asks. Blocks with
	// equal Servers are checked once. Both must be set, or neither.
	Check  func(ctx context.Context, s *Site, b *lang.Backend) Finding
	Server func(b *lang.Backend) any
	// Unidentified returns a text for each program that commands of a configuration start and that no key
	// identifies. It starts nothing.
	Unidentified func(s *Site, cfg *lang.Config) []string
	// Clean removes the containers and images of a project that belong to no living run. It returns nil if
	// there was nothing to try.
	Clean func(ctx context.Context, s *Site) (*RemovedContainers, error)
	// Clusters returns the project's clusters that this machine knows, without contacting a server.
	Clusters func(s *Site) ([]Cluster, error)
	// EndClusters ends the project's clusters that no living run has, and returns their names. Clusters that
	// are kept for another run are ended only with all.
	EndClusters func(ctx context.Context, s *Site, all bool) ([]string, error)
	// Forecast describes what a run with this much work would request. It can query prices from a server only
	// if the project is trusted.
	Forecast func(ctx context.Context, s *Site, b *lang.Backend, nodes int, seconds float64, trusted bool) Launch
}

// AskVariable returns the text for a variable in Kind.Asks. Users see it, so it hides secrets.
func AskVariable(v lang.EnvVar) string {
	if v.Secret != "" {
		return "set " + v.Name + " to a secret"
	}
	return "set " + v.Name + "=" + v.Value
}

// Blocks returns the blocks of kinds, for the language's options.
func Blocks(kinds []Kind) []lang.BackendKind {
	var all []lang.BackendKind
	for _, k := range kinds {
		if k.Block.Schema.Name != "" {
			all = append(all, k.Block)
		}
	}
	return all
}

// Diagnose returns the findings of Doctor and Check.
func (k *Kind) Diagnose(ctx context.Context, s *Site, cfg *lang.Config, asked bool) (found []Finding) {
	if k.Doctor != nil {
		found = k.Doctor(ctx, s, cfg, asked)
	}
	if k.Check == nil || cfg == nil {
		return found
	}
	seen := map[any]bool{}
	for _, b := range cfg.Backends {
		switch {
		case b.Kind != k.Name || seen[k.Server(b)]:
			continue
		case s.Trusts != nil && !s.Trusts(k.Asks(b)):
			found = append(found, Finding{Subject: k.Name, State: "warning", Detail: "backend " + b.Addr() + " was not queried: the project is not trusted; run `fevalgraph trust`"})
		default:
			found = append(found, k.Check(ctx, s, b))
		}
		seen[k.Server(b)] = true
	}
	return found
}

// Finding is a line of the doctor's report.
type Finding struct {
	Subject string `json:"subject"`
	State   string `json:"state"` // ok, warning or missing
	Detail  string `json:"detail"`
}

// RemovedContainers counts what was removed from a container daemon.
type RemovedContainers struct {
	Containers, Images int
	Built              int    // part of Images: built, not pulled
	Networks           int    // left by killed runs
	Host               string // address of the daemon
}
