package docker

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/internal/dockerfile"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// BackendKind returns the kind "docker".
func BackendKind() kind.Kind {
	return kind.Kind{Name: Kind, Block: block(), New: open, Asks: asks, Environments: PreparedPath, Reap: reaper, Doctor: check, Clean: clean}
}

// open creates a backend on the daemon that the docker command would use. All backends share it.
func open(s *kind.Site, b *lang.Backend, env []string) (plan.Executor, error) {
	daemon, err := daemonOf(s)
	if err != nil {
		// Nodes that need no container are unaffected.
		return plan.Executor{Backend: Unreachable(err)}, nil
	}
	o := optionsOf(b, s.Root)
	if o.Program, err = kind.WorkerProgram("", "containers"); err != nil {
		return plan.Executor{Backend: Unreachable(err)}, nil
	}
	o.Python, o.Env, o.Scratch = b.Python, env, s.Scratch
	o.Facts, o.Place, o.FactsReadOnly = filepath.Join(s.State, "images"), s.Place, s.ReadOnly
	o.Project, o.Run, o.Registry = s.Project(8), s.Run, s.Registry
	made := New(s.Store, daemon, o)
	s.OnClose(func() error { return made.Close(context.Background()) })
	return plan.Executor{Backend: made}, nil
}

// asks returns the images to pull and to create containers from. A query creates a container with the
// block's mounts, so all settings that can start a program in it are included.
func asks(b *lang.Backend) []string {
	all := imagesOf(b.Container)
	for _, m := range b.Container.Mounts {
		ask := "mount " + m.Source + " at " + m.Target
		if !m.ReadOnly {
			ask += ", writable"
		}
		all = append(all, ask)
	}
	if len(b.Container.Mounts) == 0 {
		return all
	}
	if user := lang.AttributesOf[attributes](b).User; user != "" {
		all = append(all, "run as the user "+user)
	}
	if b.Python != "" {
		all = append(all, "start the interpreter "+b.Python)
	}
	for _, v := range b.Env {
		all = append(all, kind.AskVariable(v))
	}
	return all
}

// imagesOf returns the images of a container, or those that its image is built on.
func imagesOf(c *lang.Container) []string {
	if c.Build == nil {
		return []string{"use the image " + c.Image}
	}
	args := map[string]string{}
	for _, a := range c.Build.Args {
		args[a.Name] = a.Value
	}
	text, err := os.ReadFile(c.Build.Dockerfile)
	names, wrong := dockerfile.Bases(text, args)
	if err != nil || wrong != nil {
		return []string{"build from " + c.Build.Dockerfile}
	}
	all := []string{"use an image built from " + c.Build.Dockerfile}
	for _, name := range names {
		all = append(all, "use the image "+name)
	}
	return all
}

type daemonKey struct{}

// daemonOf returns the daemon of the caller's environment.
func daemonOf(s *kind.Site) (*Daemon, error) {
	return kind.Shared(s, daemonKey{}, func() (*Daemon, error) {
		daemon, err := connect("", s.LookupEnv)
		if err == nil {
			s.OnClose(daemon.Close)
		}
		return daemon, err
	})
}

// connect returns a client of the daemon at host; "" means the daemon of the caller's environment.
func connect(host string, lookupEnv func(string) (string, bool)) (*Daemon, error) {
	e, err := findEndpoint(host, lookupEnv)
	var daemon *Daemon
	if err == nil {
		daemon, err = Connect(e)
	}
	if err != nil {
		return nil, &backend.ToolError{Tool: Kind, Err: err, Hint: "fix or unset DOCKER_HOST, or choose another docker context"}
	}
	return daemon, nil
}

func optionsOf(b *lang.Backend, root string) Options {
	d, c := lang.AttributesOf[attributes](b), b.Container
	o := Options{
		Origin:     Origin{Image: c.Image, Platform: d.Platform, Pull: Pull(d.Pull)},
		Privileges: Privileges{User: d.User},
		Workdir:    d.Workdir,
		Reach:      Reach{Network: d.Network},
		Limits:     Limits{CPUs: d.CPUs, Memory: d.Memory, Pids: int64(d.Pids), GPUs: c.GPUs},
	}
	if d.Pids == 0 {
		o.Pids = -1
	}
	if c.Build != nil {
		o.Build = &Build{Name: c.Build.Dockerfile}
		if rel, ok := subpath.Rel(root, c.Build.Dockerfile); ok {
			o.Build.Name = rel
		}
		for _, a := range c.Build.Args {
			o.Build.Args = append(o.Build.Args, Arg(a))
		}
	}
	if c.As != nil {
		asVerifier(&o, c.As)
	}
	for _, m := range c.Mounts {
		o.Mounts = append(o.Mounts, Mount{Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly})
	}
	return o
}

// asVerifier changes options to those for containers of a verifier.
func asVerifier(o *Options, as *lang.ContainerAs) {
	o.User, o.ImageUser, o.Capabilities = cmp.Or(as.User, o.User), true, as.Capabilities
	o.CPUs, o.Memory = cmp.Or(as.CPUs, o.CPUs), cmp.Or(as.Memory, o.Memory)
	if as.Services != nil {
		o.Services = *as.Services
	}
	o.Hosts = strings.Fields(as.Hosts)
	switch {
	case !as.Online:
		o.Network = "none"
	case o.Network == "" || o.Network == "none":
		o.Network = "bridge"
	}
}

// reaper gives up on an unreachable daemon after the first session, since each session would wait again.
func reaper(lookupEnv func(string) (string, bool)) func(context.Context, backend.Entry) error {
	connect := func(host string) (*Daemon, error) { return connect(host, lookupEnv) }
	reap, gone := Reaper(connect), map[string]error{}
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
