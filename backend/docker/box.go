package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/fevalgraph/fevalgraph/backend"
)

// box is a container, which runs one command after the other.
type box struct {
	d            *Daemon
	name         string
	id           string // "" before it exists and after remove
	maybeCreated bool   // it might exist
	bridges      *bridges
	network      string  // that it is on, as Options say
	bridge       string  // name of the bridge that it is on, "" for none
	runner       *runner // nil unless it runs
	lost         bool    // what a command did in it is unknown
}

func (b *Backend) newBox(id string) box {
	return box{d: b.d, bridges: &b.bridges, name: namePrefix + id}
}

// usable returns an error if it is unknown what goes on in the container.
func (b *box) usable() error {
	if b.lost {
		return errors.New("an earlier command lost the container")
	}
	return nil
}

// namePrefix and the session's id make a container's name.
const namePrefix = "fevalgraph-"

// blueprint describes a container to make.
type blueprint struct {
	image  string // ID
	first  backend.Container
	copied bool // the container has its files itself, the runner among them
	labels map[string]string
	mounts []mount.Mount
	opt    Options
}

// create makes the container on a network. Nothing runs yet.
func (b *box) create(ctx context.Context, p blueprint, on string) error {
	ctx, cancel := b.d.call(ctx)
	defer cancel()
	p.first.Copied = p.copied
	first, err := json.Marshal(p.first)
	if err != nil {
		return err
	}
	config := &container.Config{
		Image: p.image, User: "0:0", Labels: p.labels,
		Entrypoint: []string{programPath, backend.ContainerCommand, string(first)}, WorkingDir: "/", Hostname: "fevalgraph",
		OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	}
	host, err := p.host()
	if err != nil {
		return err
	}
	joined, err := b.join(ctx, on)
	if err != nil {
		return err
	}
	host.NetworkMode = container.NetworkMode(joined)
	if !b.d.noIPv6.Load() {
		// Daemons give containers no ::1 by default, but a localhost that
		// means it.
		host.Sysctls = map[string]string{loopbackIPv6: "0"}
	}
	b.maybeCreated = true
	made, err := b.d.api.ContainerCreate(ctx, config, host, &network.NetworkingConfig{}, platformOf(p.opt.Platform), b.name)
	if err != nil {
		return b.d.creationError(p, err)
	}
	b.id, b.network = made.ID, on
	if p.copied {
		return b.d.sendProgram(ctx, b.id, p.opt.Program)
	}
	return nil
}

// loopbackIPv6 is 0 where the loopback has an IPv6 address.
const loopbackIPv6 = "net.ipv6.conf.lo.disable_ipv6"

// host returns the limits of a container and its isolation from the host.
func (p blueprint) host() (*container.HostConfig, error) {
	var noInit bool
	host := &container.HostConfig{
		CapDrop: []string{"ALL"}, CapAdd: runnerCapabilities, SecurityOpt: []string{"no-new-privileges"},
		Init: &noInit, Mounts: p.mounts,
		// The output goes to the attached client, and to no log on the daemon's disk, which a program could
		// fill.
		LogConfig: container.LogConfig{Type: "none"},
		Resources: container.Resources{
			// Equal values disable swap.
			Memory: p.opt.Memory, MemorySwap: p.opt.Memory, NanoCPUs: int64(p.opt.CPUs * 1e9),
		},
	}
	if p.opt.accompanied() && p.opt.Network == noNetwork {
		host.DNS = nowhere
	}
	if p.opt.Capabilities {
		host.CapDrop, host.CapAdd, host.SecurityOpt = nil, nil, nil
	}
	if p.opt.Pids > 0 {
		limit := p.opt.Pids + runnerThreads
		host.PidsLimit = &limit
	}
	if p.opt.GPUs != "" {
		gpus, err := parseGPUs(p.opt.GPUs)
		if err != nil {
			return nil, err
		}
		host.DeviceRequests = []container.DeviceRequest{gpus}
	}
	for _, m := range p.opt.Mounts {
		kind := mount.TypeVolume
		if strings.HasPrefix(m.Source, "/") {
			kind = mount.TypeBind
		}
		host.Mounts = append(host.Mounts, mount.Mount{Type: kind, Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly})
	}
	return host, nil
}

// runnerCapabilities are the capabilities of the runner, which no command has: it becomes their user, ends
// them, and places files that belong to them.
var runnerCapabilities = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETPCAP", "SETUID"}

// runnerThreads bounds the threads of the runner, which the limit on processes counts.
const runnerThreads = 24

// parseGPUs reads Options.GPUs.
func parseGPUs(text string) (container.DeviceRequest, error) {
	request := container.DeviceRequest{Capabilities: [][]string{{"gpu"}}}
	if ids, found := strings.CutPrefix(text, "device="); found && ids != "" {
		request.DeviceIDs = strings.Split(ids, ",")
		return request, nil
	}
	if text == "all" {
		request.Count = -1
		return request, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return request, fmt.Errorf("gpus %q: want all, a number, or device= and a list", text)
	}
	request.Count = n
	return request, nil
}

// platformOf reads "os/arch" or "os/arch/variant"; nil means the daemon's own.
func platformOf(text string) *ocispec.Platform {
	if text == "" {
		return nil
	}
	parts := append(strings.SplitN(text, "/", 3), "", "")
	return &ocispec.Platform{OS: parts[0], Architecture: parts[1], Variant: parts[2]}
}

// creationError explains what is wrong with a blueprint, as far as that shows before a start.
func (d *Daemon) creationError(p blueprint, err error) error {
	switch err := d.explain(err); {
	case errdefs.IsNotFound(err) && mentions(err, "no such image"):
		return fmt.Errorf("image %s (%s) is gone from the daemon: %w", p.opt.Image, p.image, err)
	case mentions(err, "bind source path does not exist"):
		return p.missingSource(err)
	case mentions(err, "minimum memory limit allowed"):
		return &backend.SettingError{Setting: "memory", Err: err, Hint: "raise it: the daemon gives containers no less"}
	case mentions(err, "range of cpus is from"):
		return &backend.SettingError{Setting: "cpus", Err: err, Hint: "the daemon's machine has no more"}
	default:
		return fmt.Errorf("creating a container: %w", err)
	}
}

// missingSource reports whether the mount without a source is of the configuration or of fevalgraph.
func (p blueprint) missingSource(err error) error {
	for _, m := range p.opt.Mounts {
		if strings.HasSuffix(strings.TrimSpace(err.Error()), "bind source path does not exist: "+m.Source) {
			return &backend.SettingError{Setting: "mount", Err: fmt.Errorf("%w: %w", errNoSource, err),
				Hint: "source must be an existing path on the machine of the daemon"}
		}
	}
	return fmt.Errorf("%w: %w", errNoSource, err)
}

// errNoSource is why a container cannot be made when a mount's source is not
// there for the daemon.
var errNoSource = errors.New("nothing to mount on the machine of the daemon")

// discard removes the container, if it might exist, and leaves its network to
// others. It can be called again after a failure.
func (b *box) discard(ctx context.Context) error {
	if b.runner != nil {
		b.runner.conn.Close()
		b.runner = nil
	}
	if b.maybeCreated {
		if err := b.d.remove(ctx, b.name); err != nil {
			return err
		}
	}
	b.leave()
	return nil
}

// remove ends and removes the container and its anonymous volumes, in any
// state. It can be called again after a failure. A container that is not
// there is a success.
func (d *Daemon) remove(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.wait.remove)
	defer cancel()
	err := d.api.ContainerRemove(ctx, name, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	if errdefs.IsConflict(err) && mentions(err, "already in progress") {
		return d.awaitRemoval(ctx, name)
	}
	return fmt.Errorf("removing container %s: %w", name, d.explain(err))
}

// awaitRemoval waits for a removal that another client began.
func (d *Daemon) awaitRemoval(ctx context.Context, name string) error {
	removed, failed := d.api.ContainerWait(ctx, name, container.WaitConditionRemoved)
	select {
	case <-removed:
		return nil
	case err := <-failed:
		if errdefs.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("removing container %s: %w", name, d.explain(err))
	}
}
