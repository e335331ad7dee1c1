package skypilot

import (
	"context"
	"io"
	"net"
)

// Provider launches and ends clusters. Its errors contain the provider's messages.
type Provider interface {
	// Ready returns when the provider accepts requests for clusters.
	Ready(ctx context.Context) error
	// Launch requests a cluster and returns when its job was started.
	Launch(ctx context.Context, cluster string, t Task) error
	// State returns the current state of a cluster according to the provider.
	State(ctx context.Context, cluster string) (State, error)
	// Failed returns the error of a failed job on a running cluster, or nil.
	Failed(ctx context.Context, cluster string) error
	// End ends a cluster, in any state. A missing cluster is a success.
	End(ctx context.Context, cluster string) error
}

// Task describes a cluster to launch, and its commands.
type Task struct {
	Setup []string // shell commands, before Run
	Run   string   // a shell script
}

// State is the state of a cluster.
type State string

// The states.
const (
	Starting State = "starting"
	Up       State = "up"
	Gone     State = "gone" // ended, stopped or never launched
)

// Remote reaches the machines of a cluster.
type Remote interface {
	// Run runs a shell script on a machine with the cluster's home directory, and
	// returns its output.
	Run(ctx context.Context, cluster, script string, in io.Reader) ([]byte, error)
	// Dial connects to an address that the cluster's first machine listens at.
	Dial(ctx context.Context, cluster, address string) (net.Conn, error)
}
