package docker

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/client"
)

// callTimeout bounds a call to the daemon that does not wait for a program. A
// busy daemon takes seconds; one that needs longer is stuck.
const callTimeout = 2 * time.Minute

// Daemon is a daemon to talk to. It is safe for concurrent use.
type Daemon struct {
	api  *client.Client
	host string

	noIPv6 atomic.Bool // its kernel has none

	mu       sync.Mutex
	security []string // what it says of itself; nil before it is asked
}

// Connect returns the daemon at e. Nothing is sent before it is used; an error
// is about e itself.
func Connect(e Endpoint) (*Daemon, error) {
	options := []client.Opt{client.WithHost(e.Host), client.WithAPIVersionNegotiation()}
	if e.CertPath != "" {
		options = append(options, client.WithTLSClientConfig(
			filepath.Join(e.CertPath, "ca.pem"), filepath.Join(e.CertPath, "cert.pem"), filepath.Join(e.CertPath, "key.pem")))
	}
	if e.Version != "" {
		options = append(options, client.WithVersion(e.Version))
	}
	api, err := client.NewClientWithOpts(options...)
	if err != nil {
		return nil, fmt.Errorf("docker host %q: %w", e.Host, err)
	}
	return &Daemon{api: api, host: e.Host}, nil
}

// Close lets go of idle connections.
func (d *Daemon) Close() error { return d.api.Close() }

// call bounds a call that must be made also on a cancelled ctx.
func call(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
}
