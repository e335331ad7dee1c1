package eval

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
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/lang"
)

// Kind is a kind of backend, as blocks of the configuration name it. A function that
// is nil says that backends of the kind cannot do that.
type Kind struct {
	Name string
	// Driver makes a backend that runs commands; env is the environment of its
	// probes. A backend with a Close method is closed with the site.
	Driver func(s *Site, b *lang.Backend, env []string) (backend.Backend, error)
	// Sandbox makes a sandbox for judging, Server a judge server.
	Sandbox func(s *Site, b *lang.Backend) (backend.Sandbox, error)
	Server  func(s *Site, b *lang.Backend) (backend.JudgeServer, error)
	// Tools are variables, KEY=value, that lead tools to their files.
	Tools func(lookupEnv func(string) (string, bool)) []string
	// Environments is where commands see the Python environments that sessions
	// share; "" is a directory beside the store.
	Environments string
	// Reap returns a function that ends a session of the kind that a crashed run
	// did not end.
	Reap func(lookupEnv func(string) (string, bool)) func(context.Context, backend.Entry) error
	// Doctor checks what the kind needs on this machine. cfg is nil when the
	// configuration is invalid; asked is set when the kind is to be checked in
	// any case.
	Doctor func(ctx context.Context, o *Options, cfg *lang.Config, asked bool) []Finding
}

// Kinds are the kinds of backends of this version. A kind is one entry here, one
// package in backend, and one schema in lang.
func Kinds() []Kind {
	return []Kind{
		{Name: local.Kind, Driver: localDriver, Tools: local.Tools,
			Reap: func(func(string) (string, bool)) func(context.Context, backend.Entry) error { return local.Reap }},
		{Name: docker.Kind, Driver: dockerDriver, Environments: docker.CachePath + "/environments", Reap: dockerReaper, Doctor: checkDocker},
		{Name: gojudge.Kind, Driver: noPytest, Sandbox: sandbox, Doctor: checkJudges,
			Reap: func(func(string) (string, bool)) func(context.Context, backend.Entry) error { return gojudge.Reap }},
		{Name: lightcp.Kind, Server: judgeServer},
	}
}

// Site is what backends of one project share.
type Site struct {
	Store     cache.Store
	Registry  *backend.Registry // nil for a site that starts no sessions
	Root      string            // directory of the configuration
	State     string            // the project's state directory
	Run       string            // id of the run that sessions belong to
	ReadOnly  bool              // write no facts about backends
	LookupEnv func(string) (string, bool)

	daemon *docker.Daemon // nil until a backend needs one
	judges judges
	made   []closer // in the order of making
}

// closer is a backend that keeps something from one session to the next.
type closer interface {
	Close(ctx context.Context) error
}

// Close ends what backends keep between sessions.
func (s *Site) Close() error {
	var errs []error
	for _, b := range s.made {
		errs = append(errs, b.Close(context.Background()))
	}
	errs = append(errs, s.judges.Close())
	if s.daemon != nil {
		errs = append(errs, s.daemon.Close())
	}
	return errors.Join(errs...)
}

// kind finds the kind of a block.
func (p *Project) kind(b *lang.Backend) Kind {
	for _, k := range p.options.kinds() {
		if k.Name == b.Kind {
			return k
		}
	}
	return Kind{Name: b.Kind}
}

func unavailable(b *lang.Backend) error {
	return fmt.Errorf("kind %q is not available in this version", b.Kind)
}

// driver implements plan.Environment.Backend.
func (p *Project) driver(b *lang.Backend, env []string) (backend.Backend, error) {
	k := p.kind(b)
	if k.Driver == nil {
		return nil, unavailable(b)
	}
	return k.Driver(p.site, b, env)
}

// sandbox implements plan.Environment.Sandbox.
func (p *Project) sandbox(b *lang.Backend) (backend.Sandbox, error) {
	k := p.kind(b)
	if k.Sandbox == nil {
		return nil, fmt.Errorf("a backend of the kind %q has no sandboxes; problems with a judge block need one of the kind %q", b.Kind, gojudge.Kind)
	}
	return k.Sandbox(p.site, b)
}

// judgeServer implements plan.Environment.JudgeServer.
func (p *Project) judgeServer(b *lang.Backend) (backend.JudgeServer, error) {
	k := p.kind(b)
	if k.Server == nil {
		return nil, unavailable(b)
	}
	return k.Server(p.site, b)
}

// tools implements plan.Environment.Tools.
func (p *Project) tools(b *lang.Backend) []string {
	k := p.kind(b)
	if k.Tools == nil {
		return nil
	}
	return k.Tools(p.options.lookupEnv)
}

// environments implements plan.Environment.Environments.
func (p *Project) environments(b *lang.Backend) string {
	if k := p.kind(b); k.Environments != "" {
		return k.Environments
	}
	dir, err := p.options.cacheDir(p.Config)
	if err != nil { // then there is no store, either
		return ""
	}
	return filepath.Join(dir, "environments")
}

// reapers end sessions of crashed runs, by the kind of their backends.
func (o *Options) reapers() map[string]func(context.Context, backend.Entry) error {
	all := map[string]func(context.Context, backend.Entry) error{}
	for _, k := range o.kinds() {
		if k.Reap != nil {
			all[k.Name] = k.Reap(o.lookupEnv)
		}
	}
	return all
}

func noPytest(_ *Site, b *lang.Backend, _ []string) (backend.Backend, error) {
	return nil, fmt.Errorf("a backend of the kind %q runs single programs, not pytest; problems with a pytest block need another", b.Kind)
}

func judgeServer(_ *Site, b *lang.Backend) (backend.JudgeServer, error) {
	client, err := lightcp.New(b.LightCP.Endpoint, b.LightCP.Timeout)
	if err != nil {
		return nil, fmt.Errorf("backend %s: %w", b.Addr(), err)
	}
	return lightcp.NewServer(client), nil
}

// dockerReaper gives up on a daemon that cannot be talked to at its first
// session: each would have to wait.
func dockerReaper(lookupEnv func(string) (string, bool)) func(context.Context, backend.Entry) error {
	connect := func(host string) (*docker.Daemon, error) { return connect(host, lookupEnv) }
	reap, gone := docker.Reaper(connect), map[string]error{}
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

func localDriver(s *Site, b *lang.Backend, env []string) (backend.Backend, error) {
	path, _ := s.LookupEnv("PATH")
	for _, v := range b.Env {
		if v.Name == "PATH" {
			path = v.Value
		}
	}
	o := local.Options{
		Python: b.Python, Versions: b.Local.Versions, Path: path, Env: env, Scratch: scratchDir(), Registry: s.Registry,
		Spares: spareWorkspaces,
	}
	if !b.Local.PrivateNetwork {
		o.Network = backend.SharedNetwork
	}
	made := local.New(s.Store, o)
	s.made = append(s.made, made)
	return made, nil
}

// spareWorkspaces is more than a run has unused at a time.
const spareWorkspaces = 16

// dockerDriver makes a backend on the daemon that the docker command would use,
// which all of them share.
func dockerDriver(s *Site, b *lang.Backend, env []string) (backend.Backend, error) {
	if s.daemon == nil {
		daemon, err := connect("", s.LookupEnv)
		if err != nil {
			// Nodes that need no container must not suffer.
			return docker.Unreachable(err), nil
		}
		s.daemon = daemon
	}
	o := dockerOptions(b.Docker, s.Root)
	o.Python, o.Env, o.Scratch = b.Python, env, scratchDir()
	o.Facts, o.FactsReadOnly = filepath.Join(s.State, "images"), s.ReadOnly
	o.Project, o.Run, o.Registry = projectID(s.State), s.Run, s.Registry
	made := docker.New(s.Store, s.daemon, o)
	s.made = append(s.made, made)
	return made, nil
}

// connect makes ready to talk to the daemon at host; "" is that of the caller's
// environment.
func connect(host string, lookupEnv func(string) (string, bool)) (*docker.Daemon, error) {
	e, err := docker.FindEndpoint(host, lookupEnv)
	var daemon *docker.Daemon
	if err == nil {
		daemon, err = docker.Connect(e)
	}
	if err != nil {
		return nil, &backend.ToolError{Tool: docker.Kind, Err: err, Hint: "mend or unset DOCKER_HOST, or choose another docker context"}
	}
	return daemon, nil
}

func dockerOptions(d *lang.DockerBackend, root string) docker.Options {
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
		if inside, err := filepath.Rel(root, d.Build.Dockerfile); err == nil && filepath.IsLocal(inside) {
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
