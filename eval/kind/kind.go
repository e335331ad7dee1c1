// Package kind defines kinds of backends for the application: how a kind makes backends of blocks, what it
// takes to identify them, and how leftovers are found and ended.
//
// A kind is a Kind in a folder below package backend, or in backend/kinds if programs that link no language
// use the backend; and a line in backend/kinds. No other package knows a kind by name, or the attributes of its
// blocks. A Site is what the backends of a project share.
package kind

import (
	"context"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Kind is a kind of backend, as blocks of the configuration name it. Functions that
// are nil have nothing to do for the kind.
type Kind struct {
	Name string
	// Block describes blocks of the kind. It is zero for the kind that is part of the language.
	Block lang.BackendKind
	// New makes the backend of a block; env is the environment of its probes. It starts no
	// machine, since plans make backends, too. What it
	// holds from one session to the next is closed with the site: see Site.OnClose.
	New func(s *Site, b *lang.Backend, env []string) (plan.Executor, error)
	// Asks are what of a block has a part in telling who the backend is and comes from
	// the project: commands, programs and images to run, servers to talk to; as texts that
	// a person can judge. A call that only reads asks the backend only if the project is
	// trusted with all of them.
	Asks func(b *lang.Backend) []string
	// Tools are variables, KEY=value, that lead tools to their files.
	Tools func(lookupEnv func(string) (string, bool)) []string
	// Environments is where commands see the Python environments that sessions
	// share; "" is a directory beside the store.
	Environments string
	// Reap returns a function that ends a session of the kind that a crashed run
	// did not end.
	Reap func(lookupEnv func(string) (string, bool)) func(context.Context, backend.Entry) error
	// Doctor checks what the kind needs beyond its blocks; the site is closed afterwards. cfg is nil when the
	// configuration is invalid; asked is set when containers are to be checked in any case.
	Doctor func(ctx context.Context, s *Site, cfg *lang.Config, asked bool) []Finding
	// Check checks for the doctor what a block needs, if the project is trusted with what it Asks. Blocks with equal
	// Servers are checked once; both are set, or neither.
	Check  func(ctx context.Context, s *Site, b *lang.Backend) Finding
	Server func(b *lang.Backend) any
	// Unidentified returns a text for each program that commands of a configuration start and
	// that no key identifies. It starts nothing.
	Unidentified func(s *Site, cfg *lang.Config) []string
	// Clean removes the containers and images of a project that belong to no living
	// run. What it returns is nil when nothing could be tried.
	Clean func(ctx context.Context, s *Site) (*RemovedContainers, error)
	// Clusters are the project's, as far as this machine knows. No server is asked.
	Clusters func(s *Site) ([]Cluster, error)
	// EndClusters ends those of the project's clusters that no living run has, but for
	// those that are kept unless all is set, and returns the names of those that it ended.
	EndClusters func(ctx context.Context, s *Site, all bool) ([]string, error)
	// Forecast says what a run with so much to do would ask for. Only if the project is
	// trusted may it ask a server about prices.
	Forecast func(ctx context.Context, s *Site, b *lang.Backend, nodes int, seconds float64, trusted bool) Launch
}

// AskVariable returns the text of Kind.Asks about a variable of a block. Users see it, so it hides secrets.
func AskVariable(v lang.EnvVar) string {
	if v.Secret != "" {
		return "set " + v.Name + " to a secret"
	}
	return "set " + v.Name + "=" + v.Value
}

// Blocks returns the blocks of kinds, for the options of the language.
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
			found = append(found, Finding{Subject: k.Name, State: "warning", Detail: "backend " + b.Addr() + " was not asked: the project is not trusted; run `fevalgraph trust`"})
		default:
			found = append(found, k.Check(ctx, s, b))
		}
		seen[k.Server(b)] = true
	}
	return found
}

// Finding is one line of the doctor's report.
type Finding struct {
	Subject string `json:"subject"`
	State   string `json:"state"` // ok, warning, missing
	Detail  string `json:"detail"`
}

// RemovedContainers counts what was removed from a daemon.
type RemovedContainers struct {
	Containers, Images int
	Built              int    // images among these that were built, not fetched
	Networks           int    // that a run was killed over
	Host               string // of the daemon
}
