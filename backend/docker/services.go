package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
	"github.com/fevalgraph/fevalgraph/internal/retry"
	"github.com/fevalgraph/fevalgraph/lang"
)

// company holds the services of a session and the proxy, with their network.
type company struct {
	network     string   // its name; "" before it exists
	proxyBridge string   // additional bridge of the proxy; "" without a proxy
	ids         []string // of containers that might exist
	running     bool
}

// nowhere lists the upstream servers of the daemon's name server, for names other than the network's
// containers. No server answers there.
var nowhere = []string{"127.0.0.1"}

// describeService returns every property of a service that a command can observe.
func (b *Backend) describeService(ctx context.Context, s lang.Service) (string, error) {
	id, err := b.base(ctx, s.Image)
	if err != nil {
		return "", fmt.Errorf("service %s: %w", s.Name, err)
	}
	s.Image = id
	text, err := json.Marshal(s)
	return string(text), err
}

// accompany starts the services, unless they run, and returns their network. A submission cannot cause an
// error: no command ran before.
func (s *session) accompany(ctx context.Context) (network string, err error) {
	c := &s.company
	if c.running {
		return c.network, nil
	}
	if err := s.dismiss(ctx); err != nil { // from an earlier attempt
		return "", err
	}
	if c.network, c.proxyBridge, err = s.b.bridges.acquirePrivate(ctx, s.b.opt.Network == noNetwork, len(s.b.opt.Hosts) > 0); err != nil {
		return "", err
	}
	if c.proxyBridge != "" {
		if err := s.startProxy(ctx); err != nil {
			return "", fmt.Errorf("the proxy to the list of hosts: %w", err)
		}
	}
	for _, service := range s.b.opt.Services {
		if err := s.startService(ctx, service); err != nil {
			return "", fmt.Errorf("service %s: %w", service.Name, err)
		}
	}
	c.running = true
	return c.network, nil
}

// startService starts a service and waits until it is ready.
func (s *session) startService(ctx context.Context, service lang.Service) error {
	image, err := s.b.base(ctx, service.Image)
	if err != nil {
		return err
	}
	config, host, err := s.serviceConfig(service, image)
	if err != nil {
		return err
	}
	name, err := s.startBeside(ctx, service.Name, config, host, func(string) error { return nil })
	if err != nil {
		return err
	}
	ready := func(state *container.State) bool {
		return len(service.Ready) == 0 || state.Health != nil && state.Health.Status == container.Healthy
	}
	return s.b.d.awaitService(ctx, name, service.ReadyTimeout, ready)
}

// startBeside starts a container on the private network. before is called with the name of the created
// container.
func (s *session) startBeside(ctx context.Context, alias string, config *container.Config, host *container.HostConfig, before func(name string) error) (name string, err error) {
	id := workspace.NewID()
	if err := s.b.register(backend.Entry{ID: id, Name: s.name + " " + alias}); err != nil {
		return "", err
	}
	s.company.ids = append(s.company.ids, id)
	name = namePrefix + id
	join := &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{s.company.network: {Aliases: []string{alias}}}}
	call, cancel := s.b.d.call(ctx)
	defer cancel()
	if _, err := s.b.d.api.ContainerCreate(call, config, host, join, platformOf(s.b.opt.Platform), name); err != nil {
		return "", fmt.Errorf("creating its container: %w", s.b.d.explain(err))
	}
	if err := before(name); err != nil {
		return "", err
	}
	if err := s.b.d.api.ContainerStart(call, name, container.StartOptions{}); err != nil {
		return "", s.b.d.startError(err)
	}
	return name, nil
}

// proxyName is the host name of the proxy.
const proxyName = "fevalgraph-proxy"

// startProxy starts a container of the session's image that runs only the runner, as a proxy. Only this
// container of the network is also on a bridge.
func (s *session) startProxy(ctx context.Context) error {
	p := s.b.blueprint(s.image, s.id, s.name+" proxy", nil)
	p.opt.Mounts, p.opt.GPUs, p.opt.Hosts, p.opt.Services, p.opt.Capabilities = nil, "", nil, nil, false
	host, err := p.host()
	if err != nil {
		return err
	}
	host.CapAdd, host.NetworkMode = nil, container.NetworkMode(s.company.network)
	host.LogConfig = serviceLog
	first, err := json.Marshal(backend.Container{Egress: s.b.opt.Hosts})
	if err != nil {
		return err
	}
	config := &container.Config{
		Image: s.image.id, User: "65534:65534", Labels: p.labels, Hostname: proxyName, WorkingDir: "/",
		Entrypoint: []string{programPath, backend.ContainerCommand, string(first)}, Cmd: []string{}, Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	}
	name, err := s.startBeside(ctx, proxyName, config, host, func(name string) error {
		if err := s.b.d.sendProgram(ctx, name, s.b.opt.Program); err != nil {
			return err
		}
		call, cancel := s.b.d.call(ctx)
		defer cancel()
		if err := s.b.d.api.NetworkConnect(call, s.company.proxyBridge, name, nil); err != nil {
			return fmt.Errorf("connecting it to a network: %w", s.b.d.explain(err))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.b.d.awaitService(ctx, name, time.Minute, func(*container.State) bool { return strings.Contains(s.b.d.lastWords(ctx, name), "ready") })
}

// proxyVariables returns the variables that make programs use the proxy.
func (o Options) proxyVariables() (env []string) {
	if len(o.Hosts) == 0 {
		return nil
	}
	direct := []string{"localhost", "127.0.0.1"}
	for _, service := range o.Services {
		direct = append(direct, service.Name)
	}
	for name, value := range map[string]string{"HTTP_PROXY": proxyAddress, "HTTPS_PROXY": proxyAddress, "ALL_PROXY": proxyAddress, "NO_PROXY": strings.Join(direct, ",")} {
		env = append(env, name+"="+value, strings.ToLower(name)+"="+value)
	}
	slices.Sort(env)
	return env
}

var proxyAddress = fmt.Sprintf("http://%s:%d", proxyName, backend.EgressPort)

// serviceLog is the log configuration of services. It keeps their last output for error messages.
var serviceLog = container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "64k", "max-file": "1"}}

// serviceConfig describes the container of a service. It has the limits of the session's container, but
// the default capabilities, since servers start as root and switch users.
func (s *session) serviceConfig(service lang.Service, image string) (*container.Config, *container.HostConfig, error) {
	p := s.b.blueprint(s.image, s.id, s.name+" "+service.Name, nil)
	p.opt.GPUs, p.opt.Mounts, p.opt.Capabilities = "", nil, true
	host, err := p.host()
	if err != nil {
		return nil, nil, err
	}
	host.SecurityOpt = []string{"no-new-privileges"}
	host.Ulimits = s.facts.ulimits()
	host.NetworkMode = container.NetworkMode(s.company.network)
	host.LogConfig = serviceLog
	env := s.b.opt.proxyVariables()
	for _, v := range service.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	test := []string{"NONE"}
	if len(service.Ready) > 0 {
		test = append([]string{"CMD"}, service.Ready...)
	}
	return &container.Config{
		Image: image, Hostname: service.Name, Labels: p.labels, Env: env, User: service.User, WorkingDir: service.Workdir,
		Entrypoint: service.Entrypoint, Cmd: service.Command,
		// Only the first success counts.
		Healthcheck: &container.HealthConfig{Test: test, Interval: time.Second, Timeout: service.ReadyTimeout, Retries: 1 << 20},
	}, host, nil
}

// ulimits returns the limits of services, which are those of commands, except that servers need more open files.
// Engines have no name for the limit on the address space.
func (f *facts) ulimits() (all []*container.Ulimit) {
	for _, limit := range backend.CommandLimits {
		soft, hard := limit.Soft, limit.Hard
		if low, is := f.limits[limit.Key]; is {
			soft, hard = min(soft, low), low
		}
		if limit.Key == "nofile" {
			soft = hard
		}
		if limit.Key != "as" {
			all = append(all, &container.Ulimit{Name: limit.Key, Soft: int64(soft), Hard: int64(hard)}) // -1 means unlimited
		}
	}
	return all
}

// awaitService waits until a service is ready.
func (d *Daemon) awaitService(ctx context.Context, name string, limit time.Duration, ready func(*container.State) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it was not ready within %v", limit))
	defer cancel()
	for {
		found, err := d.api.ContainerInspect(ctx, name)
		switch {
		case context.Cause(ctx) != nil:
			return fmt.Errorf("%w%s", context.Cause(ctx), d.lastWords(ctx, name))
		case err != nil:
			return fmt.Errorf("inspecting its container: %w", d.explain(err))
		case found.State == nil || !found.State.Running:
			return errors.New("it ended before the command started" + d.lastWords(ctx, name))
		case ready(found.State):
			return nil
		}
		_ = retry.Sleep(ctx, 100*time.Millisecond)
	}
}

// lastWords returns the end of a container's output, in a form for the end of a sentence.
func (d *Daemon) lastWords(ctx context.Context, name string) string {
	ctx, cancel := d.call(ctx)
	defer cancel()
	log, err := d.api.ContainerLogs(ctx, name, container.LogsOptions{ShowStdout: true, ShowStderr: true, Tail: "5"})
	if err != nil {
		return ""
	}
	defer log.Close()
	words := &excerpt{}
	_, _ = stdcopy.StdCopy(words, words, io.LimitReader(log, excerptLimit))
	return strings.ReplaceAll(words.String(), "\n", "; ")
}

// dismiss removes the services and then their network, which the session's container must have left. It can be called
// again after a failure.
func (s *session) dismiss(ctx context.Context) error {
	c := &s.company
	c.running = false
	for _, id := range slices.Clone(c.ids) {
		err := s.b.d.remove(ctx, namePrefix+id)
		if err == nil {
			err = s.b.unregister(id)
		}
		if err != nil {
			return err
		}
		c.ids = c.ids[1:]
	}
	if c.proxyBridge != "" {
		s.b.bridges.give(c.proxyBridge)
		c.proxyBridge = ""
	}
	if c.network == "" {
		return nil
	}
	err := s.b.bridges.removePrivate(ctx, c.network)
	if err == nil {
		c.network = ""
	}
	return err
}
