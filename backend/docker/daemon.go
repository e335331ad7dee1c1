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

// patience describes how long to wait for a daemon.
type patience struct {
	// call bounds requests that do not wait for a program. A busy daemon takes seconds; a daemon that needs
	// longer is stuck.
	call time.Duration
	// launch bounds the time from the start of a container to the word of the
	// script in it. It takes a tenth of a second, seconds under load.
	launch time.Duration
	// end bounds the end of a container after SIGKILL.
	end time.Duration
	// remove bounds what Close takes with a daemon that hangs.
	remove time.Duration
	// stop limits how long a daemon still answers that is being stopped and has killed its containers.
	stop time.Duration
	// addresses limits how long a container waits for a network if no other container of the run has a
	// network that it will leave.
	addresses time.Duration
	// builds limits for how long a build is repeated because another client removes images.
	builds time.Duration
	// idle bounds the time that a network without a container is kept for the next one.
	idle time.Duration
}

var usualPatience = patience{
	call: 2 * time.Minute, launch: 2 * time.Minute, end: 30 * time.Second, remove: 20 * time.Second, stop: 5 * time.Second, addresses: 2 * time.Minute, builds: 10 * time.Second, idle: 10 * time.Second,
}

// Endpoint says where a daemon listens.
type Endpoint struct {
	Host     string // "unix:///var/run/docker.sock", "tcp://host:2376"
	CertPath string // directory of ca.pem, cert.pem and key.pem; "" means no TLS
	// SkipVerify accepts any certificate of the daemon.
	SkipVerify bool
	// Version pins the API's version, "1.41"; empty negotiates it.
	Version string
	// Origin says where this was found, for users: "DOCKER_HOST".
	Origin string
}

// DefaultHost is the default address of daemons.
const DefaultHost = client.DefaultDockerHost

// Daemon is a daemon to talk to. It is safe for concurrent use.
type Daemon struct {
	api  *client.Client
	host string
	wait patience

	noIPv6 atomic.Bool // its kernel has none

	mu     sync.Mutex        // guards what is queried once
	self   *about            // nil before it is
	bridge map[string]string // options of the daemon's own bridge; nil until they are known
}

// Connect returns the daemon at e. Nothing is sent before it is used; an error
// is about e itself.
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
	API      string // that was negotiated: "1.41"
	Platform string // "linux/x86_64"
	Rootless bool
}

// Version queries the daemon, for users who check whether it runs. An error contains a hint.
func (d *Daemon) Version(ctx context.Context) (Version, error) {
	about, err := d.about(ctx)
	if err != nil {
		return Version{}, err
	}
	return Version{Engine: about.engine, API: d.api.ClientVersion(), Platform: about.platform, Rootless: about.hasSecurity("rootless")}, nil
}

// Close lets go of idle connections.
func (d *Daemon) Close() error { return d.api.Close() }

// ask bounds a call that is useless once ctx is cancelled.
func (d *Daemon) ask(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d.wait.call)
}

// call bounds a call that must be made also on a cancelled ctx.
func (d *Daemon) call(ctx context.Context) (context.Context, context.CancelFunc) {
	return d.ask(context.WithoutCancel(ctx))
}
