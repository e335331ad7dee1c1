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

// box is a container that runs commands one after another.
type box struct {
	d            *Daemon
	name         string
	id           string // "" before it exists and after remove
	maybeCreated bool   // it might exist
	bridges      *bridges
	network      string  // that it is on, in the words of Options.Network
	bridge       string  // name of its bridge; "" if it is on none
	runner       *runner // nil unless the container runs
	stateUnknown bool    // the effect of a command is unknown
}

func (b *Backend) newBox(id string) box {
	return box{d: b.d, bridges: &b.bridges, name: namePrefix + id}
}

// checkUsable returns an error if the state of the container is unknown.
func (b *box) checkUsable() error {
	if b.stateUnknown {
		return errors.New("the container's state is unknown after an earlier command")
	}
	return nil
}

// namePrefix precedes the session's id in names of containers.
const namePrefix = "fevalgraph-"

// blueprint describes a container to make.
type blueprint struct {
	image  string // ID
	first  backend.Container
	copied bool // files, including the runner, are copied into the container
	labels map[string]string
	mounts []mount.Mount
	opt    Options
}

// create creates the container on a network, without starting it.
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
		// By default, daemons give containers no ::1, but a localhost that resolves to it.
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

// loopbackIPv6 is the setting that is 0 if the loopback has an IPv6 address.
const loopbackIPv6 = "net.ipv6.conf.lo.disable_ipv6"

// host returns a container's limits and its isolation from the host.
func (p blueprint) host() (*container.HostConfig, error) {
	var noInit bool
	host := &container.HostConfig{
		CapDrop: []string{"ALL"}, CapAdd: runnerCapabilities, SecurityOpt: []string{"no-new-privileges"},
		Init: &noInit, Mounts: p.mounts,
		ShmSize: shmSize, // daemons have different defaults
		// The output goes only to the attached client: a program could fill the daemon's disk with a log.
		LogConfig: container.LogConfig{Type: "none"},
		Resources: container.Resources{
			// Equal values disable swap.
			Memory: p.opt.Memory, MemorySwap: p.opt.Memory, NanoCPUs: int64(p.opt.CPUs * 1e9),
		},
	}
	if p.opt.hasCompanions() && p.opt.Network == noNetwork {
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

// shmSize limits /dev/shm, in bytes.
const shmSize = 64 << 20

// runnerCapabilities are the capabilities of the runner, which commands lack: it switches to their user,
// ends them, and places files that belong to them.
var runnerCapabilities = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETPCAP", "SETUID"}

// runnerThreads is the maximum number of the runner's threads, which count towards the limit on processes.
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

// platformOf reads "os/arch" or "os/arch/variant"; nil means the daemon's platform.
func platformOf(text string) *ocispec.Platform {
	if text == "" {
		return nil
	}
	parts := append(strings.SplitN(text, "/", 3), "", "")
	return &ocispec.Platform{OS: parts[0], Architecture: parts[1], Variant: parts[2]}
}

// creationError explains an error in a blueprint that shows before the start.
func (d *Daemon) creationError(p blueprint, err error) error {
	switch err := d.explain(err); {
	case errdefs.IsNotFound(err) && mentions(err, "no such image"):
		return fmt.Errorf("image %s (%s) is gone from the daemon: %w", p.opt.Image, p.image, err)
	case mentions(err, "bind source path does not exist"):
		return p.missingSource(err)
	case mentions(err, "minimum memory limit allowed"):
		return &backend.SettingError{Setting: "memory", Err: err, Hint: "raise it to the daemon's minimum"}
	case mentions(err, "range of cpus is from"):
		return &backend.SettingError{Setting: "cpus", Err: err, Hint: "lower it: the daemon's machine has no more"}
	default:
		return fmt.Errorf("creating a container: %w", err)
	}
}

// missingSource returns an error about a mount with a missing source, which depends on whether the
// configuration or fevalgraph requested the mount.
func (p blueprint) missingSource(err error) error {
	for _, m := range p.opt.Mounts {
		if strings.HasSuffix(strings.TrimSpace(err.Error()), "bind source path does not exist: "+m.Source) {
			return &backend.SettingError{Setting: "mount", Err: fmt.Errorf("%w: %w", errNoSource, err),
				Hint: "source must be an existing path on the daemon's machine"}
		}
	}
	return fmt.Errorf("%w: %w", errNoSource, err)
}

// errNoSource means that the daemon does not see the source of a mount.
var errNoSource = errors.New("mount source not found on the daemon's machine")

// discard removes the container, if it might exist, and gives its network back. It can be called again after
// a failure.
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

// remove ends and removes the container and its anonymous volumes, in any state. It can be called again
// after a failure. A missing container is a success.
func (d *Daemon) remove(ctx context.Context, name string) error {
	ctx, cancel := d.call(ctx)
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
