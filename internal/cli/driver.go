package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
	"github.com/fevalgraph/fevalgraph/backend/gojudge"
	"github.com/fevalgraph/fevalgraph/backend/lightcp"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// A kind of backend is one case in each of these functions and one schema in
// lang.

// driver makes the backend of a block.
func (p *project) driver(b *lang.Backend, env []string) (plan.Driver, error) {
	switch b.Kind {
	case local.Kind:
		return p.localDriver(b, env), nil
	case docker.Kind:
		return p.dockerDriver(b, env), nil
	case gojudge.Kind:
		return nil, fmt.Errorf("a backend of the kind %q runs single programs, not pytest; problems with a pytest block need another", b.Kind)
	}
	return nil, fmt.Errorf("kind %q is not available in this version", b.Kind)
}

// judgeServer makes the judge server of a block.
func (p *project) judgeServer(b *lang.Backend) (backend.JudgeServer, error) {
	if b.Kind != lightcp.Kind {
		return nil, fmt.Errorf("kind %q is not available in this version", b.Kind)
	}
	client, err := lightcp.New(b.LightCP.Endpoint, b.LightCP.Timeout)
	if err != nil {
		return nil, fmt.Errorf("backend %s: %w", b.Addr(), err)
	}
	return lightcp.NewServer(client), nil
}

// tools are the variables that lead tools to their files on a backend.
func (a *app) tools(b *lang.Backend) []string {
	if b.Kind == local.Kind {
		return local.Tools(a.io.LookupEnv)
	}
	return nil // containers have their own
}

// environments is where Python environments are kept that sessions share: in the
// store's directory, or in a container where Prepare's work lasts.
func (p *project) environments(b *lang.Backend) string {
	if b.Kind == docker.Kind {
		return docker.CachePath + "/environments"
	}
	dir, err := p.app.cacheDir(p.cfg)
	if err != nil { // then there is no store, either
		return ""
	}
	return filepath.Join(dir, "environments")
}

// reapers end what dead runs left, by the kind of their backends.
func (a *app) reapers() map[string]func(context.Context, backend.Entry) error {
	return map[string]func(context.Context, backend.Entry) error{local.Kind: local.Reap, docker.Kind: a.dockerReaper(), gojudge.Kind: gojudge.Reap}
}

// dockerReaper gives up on a daemon that cannot be talked to at its first
// session: each would have to wait.
func (a *app) dockerReaper() func(context.Context, backend.Entry) error {
	reap, gone := docker.Reaper(a.connect), map[string]error{}
	return func(ctx context.Context, e backend.Entry) error {
		if err := gone[e.Host]; err != nil {
			return err
		}
		err := reap(ctx, e)
		var missing *backend.ToolError
		if errors.As(err, &missing) {
			gone[e.Host] = err
		}
		return err
	}
}

func (p *project) localDriver(b *lang.Backend, env []string) plan.Driver {
	path, _ := p.app.io.LookupEnv("PATH")
	for _, v := range b.Env {
		if v.Name == "PATH" {
			path = v.Value
		}
	}
	o := local.Options{
		Python: b.Python, Versions: b.Local.Versions, Path: path, Env: env, Scratch: scratchDir(), Registry: p.registry,
		Spares: spareWorkspaces,
	}
	if !b.Local.PrivateNetwork {
		o.Network = backend.SharedNetwork
	}
	made := local.New(p.store, o)
	p.backends = append(p.backends, made)
	return made
}

// spareWorkspaces is more than are left untouched at a time.
const spareWorkspaces = 16

// dockerDriver makes a backend on the daemon that the docker command would use,
// which all of them share.
func (p *project) dockerDriver(b *lang.Backend, env []string) plan.Driver {
	if p.daemon == nil {
		daemon, err := p.app.connect("")
		if err != nil {
			// Nodes that need no container must not suffer.
			return docker.Unreachable(err)
		}
		p.daemon = daemon
	}
	o := p.dockerOptions(b.Docker)
	o.Python, o.Env, o.Scratch = b.Python, env, scratchDir()
	o.Facts, o.FactsReadOnly = filepath.Join(p.state, "images"), p.reads
	o.Project, o.Run, o.Registry = projectID(p.state), p.run, p.registry
	made := docker.New(p.store, p.daemon, o)
	p.backends = append(p.backends, made)
	p.inside[made] = &requirements.Inside{Backend: made, Env: env}
	return made
}

// connect makes ready to talk to the daemon at host; "" is that of the caller's
// environment.
func (a *app) connect(host string) (*docker.Daemon, error) {
	e, err := docker.FindEndpoint(host, a.io.LookupEnv)
	var daemon *docker.Daemon
	if err == nil {
		daemon, err = docker.Connect(e)
	}
	if err != nil {
		return nil, &backend.ToolError{Tool: docker.Kind, Err: err, Hint: "mend or unset DOCKER_HOST, or choose another docker context"}
	}
	return daemon, nil
}

func (p *project) dockerOptions(d *lang.DockerBackend) docker.Options {
	o := docker.Options{
		Image: d.Image, Platform: d.Platform, Pull: docker.Pull(d.Pull),
		User: d.User, Workdir: d.Workdir, Network: d.Network,
		CPUs: d.CPUs, Memory: d.Memory, Pids: int64(d.Pids), GPUs: d.GPUs, NoInit: d.NoInit,
		Reuse: d.Reuse && d.Keep == "never", // a kept container is that of one node
	}
	if d.Pids == 0 {
		o.Pids = -1
	}
	if d.Build != nil {
		o.Build = &docker.Build{Name: d.Build.Dockerfile}
		if inside, err := filepath.Rel(p.cfg.Root, d.Build.Dockerfile); err == nil && filepath.IsLocal(inside) {
			o.Build.Name = filepath.ToSlash(inside)
		}
		for _, a := range d.Build.Args {
			o.Build.Args = append(o.Build.Args, docker.Arg(a))
		}
	}
	for _, m := range d.Mounts {
		o.Mounts = append(o.Mounts, docker.Mount{Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly})
	}
	return o
}

// projectID names a project on a daemon that others use, too: by its state
// directory, which no two projects share.
func projectID(state string) string {
	if absolute, err := filepath.Abs(state); err == nil {
		state = absolute
	}
	sum := sha256.Sum256([]byte(state))
	return hex.EncodeToString(sum[:8])
}

// scratchDir is where workspaces are made: a short path, since sockets in it
// have little room, and one per user.
func scratchDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("fevalgraph-%d", os.Getuid()))
}
