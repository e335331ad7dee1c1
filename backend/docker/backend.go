package docker

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Backend implements backend.Backend.
type Backend struct {
	store cache.Store
	d     *Daemon
	opt   Options

	mu     sync.Mutex // guards image, facts and pulled, which are each queried once
	image  *resolvedImage
	facts  *facts
	pulled map[string]bool // images that a build depends on
	// factsFile stores facts; "" means nowhere. It is set with facts.
	factsFile string

	runnerChecked bool // the runner works on the daemon's machine; guarded by mu

	scratch workspace.ScratchDir

	remoteFiles atomic.Bool // the daemon does not see this machine's files

	bridges bridges

	err error // why the daemon is unreachable
}

var _ backend.Backend = (*Backend)(nil)

// New returns a backend whose containers run on d and whose inputs come from store. It does not contact d.
func New(store cache.Store, d *Daemon, o Options) *Backend {
	if o.Build != nil {
		o.Image = "of " + o.Build.Name // for users
	}
	b := &Backend{store: store, d: d, opt: o.withDefaults(), scratch: workspace.ScratchDir{Dir: o.Scratch}}
	b.bridges.b = b
	return b
}

// Unreachable returns a backend whose methods all return err. If it is already known that no daemon is
// reachable, only callers that need one get the error.
func Unreachable(err error) *Backend { return &Backend{err: err} }

// resolve returns the image and the facts that a container of it reports. The first success of each is
// cached for the life of b.
func (b *Backend) resolve(ctx context.Context) (*resolvedImage, *facts, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return nil, nil, b.err
	}
	if err := b.opt.check(); err != nil {
		return nil, nil, err
	}
	if b.image == nil && b.opt.Build != nil {
		return nil, nil, fmt.Errorf("building from %s: %w", b.opt.Build.Name, errNotBuilt)
	}
	if b.image == nil {
		image, err := b.d.resolve(ctx, b.opt)
		if err != nil {
			return nil, nil, err
		}
		b.image = image
	}
	if b.facts == nil {
		if !b.runnerChecked {
			if err := b.checkProgram(ctx); err != nil {
				return nil, nil, err
			}
			b.runnerChecked = true
		}
		found, err := b.ask(ctx, b.image)
		if err != nil {
			return nil, nil, fmt.Errorf("inspecting image %s: %w", b.opt.Image, err)
		}
		b.facts = found
	}
	return b.image, b.facts, nil
}

// Network implements backend.Backend: every container has a private loopback.
func (b *Backend) Network() backend.Network { return backend.PrivateNetwork }

// Capabilities implements backend.Backend.
func (b *Backend) Capabilities() backend.Capabilities {
	return backend.Capabilities{
		Python: b, OwnFiles: true, Images: b, RemoteHost: b.remoteHost, Attach: true,
		Places: func(context.Context) error { return nil },
		Keep:   func(ctx context.Context, s backend.Session) (string, error) { return s.(*session).Keep(ctx) },
	}
}

// check returns an error for invalid options.
func (o Options) check() error {
	if !path.IsAbs(o.Workdir) || path.Clean(o.Workdir) == "/" {
		return fmt.Errorf("workdir %q: want an absolute path below the root", o.Workdir)
	}
	if o.Network == "host" || strings.HasPrefix(o.Network, "container:") {
		return fmt.Errorf("network %q: commands need a separate network: none, bridge or the name of a network", o.Network)
	}
	if len(o.Hosts) > 0 && o.Network != noNetwork {
		return fmt.Errorf("network %q: a list of hosts requires the network none", o.Network)
	}
	if len(o.Services) > 0 && o.Network != noNetwork && o.Network != bridgeNetwork {
		return fmt.Errorf("network %q: services and the container next to them are on a separate network; want none or bridge", o.Network)
	}
	for _, m := range o.Mounts {
		if m.Source == "" || !path.IsAbs(m.Target) {
			return fmt.Errorf("mount of %q at %q: want a source and an absolute path in the container", m.Source, m.Target)
		}
	}
	return nil
}

// user returns the user that runs commands in containers of the image.
func (b *Backend) user(image *resolvedImage) string {
	if b.opt.User != "" {
		return b.opt.User
	}
	switch name, _, _ := strings.Cut(image.user, ":"); name {
	case "", "root", "0":
		if b.opt.ImageUser {
			return "0"
		}
		return DefaultUser
	}
	return image.user
}

// Identity names the image by its ID, which is a digest of its content, its platform and interpreter, and
// options that commands can detect, if they are not the defaults. It does not name an image that was
// built: several images can have the same content, which Build identifies.
func (b *Backend) Identity(ctx context.Context) (backend.Identity, error) {
	image, found, err := b.resolve(ctx)
	if err != nil {
		return nil, err
	}
	identity := backend.Identity{{Label: "platform", Value: image.platform}}
	if b.opt.Build == nil {
		identity = append(identity, backend.Field{Label: "image", Value: image.id})
	}
	identity = append(identity, backend.Field{Label: "runner", Value: runnerVersion}, backend.Field{Label: "python", Value: found.version}, backend.Field{Label: "user", Value: b.user(image)})
	add := func(label, value string, set bool) {
		if set {
			identity = append(identity, backend.Field{Label: label, Value: value})
		}
	}
	o := b.opt
	add("workdir", o.Workdir, o.Workdir != DefaultWorkdir)
	add("network", o.Network, true) // results without this field are from versions that used the daemon's bridge
	add("cpus", strconv.FormatFloat(o.CPUs, 'g', -1, 64), o.CPUs != 0)
	add("memory", strconv.FormatInt(o.Memory, 10), o.Memory != 0)
	add("pids", strconv.FormatInt(max(o.Pids, 0), 10), o.Pids != DefaultPids)
	add("gpus", o.GPUs, o.GPUs != "")
	add("capabilities", "default", o.Capabilities)
	add("hosts", strings.Join(o.Hosts, " "), len(o.Hosts) > 0)
	for _, service := range o.Services {
		text, err := b.describeService(ctx, service)
		if err != nil {
			return nil, err
		}
		add("service "+service.Name, text, true)
	}
	for _, m := range o.Mounts {
		// The source of a mount belongs to the machine. Its content is not part of the identity, either: only the
		// user knows whether it matters.
		mode := "read-write"
		if m.ReadOnly {
			mode = "read-only"
		}
		add("mount "+m.Target, mode, true)
	}
	identity = append(identity, found.limits.Identity()...)
	about, err := b.d.info(ctx)
	if err != nil {
		return nil, err
	}
	add("runtime", about.runtime, !slices.Contains(usualRuntimes, about.runtime))
	add("seccomp", "not the default", !about.hasSecurity("seccomp,profile=builtin") && !about.hasSecurity("seccomp,profile=default"))
	return identity, nil
}

// usualRuntimes run containers as processes of the daemon's kernel, without a difference that commands see.
var usualRuntimes = []string{"", "runc", "io.containerd.runc.v2", "crun"}

// runnerVersion must be incremented if a change of how containers run is visible to commands.
const runnerVersion = "2"

// remoteHost returns the daemon's address if it can run on another machine, whose files it would mount; ""
// means this machine.
func (b *Backend) remoteHost() string {
	if b.d == nil || strings.HasPrefix(b.d.host, "unix://") || strings.HasPrefix(b.d.host, "npipe://") {
		return ""
	}
	return "the daemon at " + b.d.host
}
