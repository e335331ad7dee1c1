package docker

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/client"
	"github.com/docker/go-connections/tlsconfig"
)

// patience contains the limits on waiting for a daemon.
type patience struct {
	// call limits each request that does not wait for a program, the time from the start of a container to the
	// first message from it, and the time from SIGKILL to its end. A busy machine needs seconds, and sometimes
	// half a minute; a slower daemon is stuck.
	call time.Duration
	// stop limits how long a daemon that is shutting down still answers after it has killed its containers.
	stop time.Duration
	// addresses limits how long a container waits for a network if no other container of the run is about to
	// free one.
	addresses time.Duration
	// builds limits for how long a build is repeated because another client removes images.
	builds time.Duration
	// idle limits how long a network without a container is kept for the next one.
	idle time.Duration
}

var usualPatience = patience{
	call: 2 * time.Minute, stop: 5 * time.Second, addresses: 2 * time.Minute, builds: 10 * time.Second, idle: 10 * time.Second,
}

// Endpoint is the address of a daemon, with its TLS settings.
type Endpoint struct {
	Host     string // "unix:///var/run/docker.sock", "tcp://host:2376"
	CertPath string // directory of ca.pem, cert.pem and key.pem; "" means no TLS
	// SkipVerify accepts any certificate of the daemon.
	SkipVerify bool
	// Version pins the API's version, "1.41"; "" means negotiation.
	Version string
	// Origin is the source of this endpoint, for users: "DOCKER_HOST".
	Origin string
}

// DefaultHost is the default address of daemons.
const DefaultHost = client.DefaultDockerHost

// Daemon is a client of a container daemon. It is safe for concurrent use.
type Daemon struct {
	api  *client.Client
	host string
	wait patience

	noIPv6 atomic.Bool // its kernel has no IPv6

	mu     sync.Mutex        // guards the fields below, which are queried once
	self   *daemonInfo       // nil until it is queried
	bridge map[string]string // options of the daemon's own bridge; nil until they are queried
}

// Connect returns a client of the daemon at e. It sends nothing; an error is about e itself.
func Connect(e Endpoint) (*Daemon, error) {
	options := []client.Opt{client.WithAPIVersionNegotiation()}
	if e.CertPath != "" {
		config, err := tlsconfig.Client(tlsconfig.Options{
			CAFile: filepath.Join(e.CertPath, "ca.pem"), CertFile: filepath.Join(e.CertPath, "cert.pem"),
			KeyFile: filepath.Join(e.CertPath, "key.pem"), InsecureSkipVerify: e.SkipVerify,
		})
		if err != nil {
			return nil, fmt.Errorf("docker host %q: %w", e.Host, err)
		}
		options = append(options, client.WithHTTPClient(&http.Client{
			Transport: &http.Transport{TLSClientConfig: config}, CheckRedirect: client.CheckRedirect,
		}))
	}
	options = append(options, client.WithHost(e.Host))
	if e.Version != "" {
		options = append(options, client.WithVersion(e.Version))
	}
	api, err := client.NewClientWithOpts(options...)
	if err != nil {
		return nil, fmt.Errorf("docker host %q: %w", e.Host, err)
	}
	return &Daemon{api: api, host: e.Host, wait: usualPatience}, nil
}

// Host returns the daemon's address.
func (d *Daemon) Host() string { return d.host }

// Version is a daemon's report about itself.
type Version struct {
	Engine   string // "20.10.24"
	API      string // negotiated version: "1.41"
	Platform string // "linux/x86_64"
	Rootless bool
}

// Version queries the daemon, for users who check whether it runs. An error contains a hint.
func (d *Daemon) Version(ctx context.Context) (Version, error) {
	about, err := d.info(ctx)
	if err != nil {
		return Version{}, err
	}
	return Version{Engine: about.engine, API: d.api.ClientVersion(), Platform: about.platform, Rootless: about.hasSecurity("rootless")}, nil
}

// Close closes idle connections.
func (d *Daemon) Close() error { return d.api.Close() }

// ask returns a context for a call that is useless after ctx is cancelled.
func (d *Daemon) ask(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d.wait.call)
}

// call returns a context for a call that must be made even if ctx is cancelled.
func (d *Daemon) call(ctx context.Context) (context.Context, context.CancelFunc) {
	return d.ask(context.WithoutCancel(ctx))
}
