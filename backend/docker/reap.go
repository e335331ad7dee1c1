package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// stop ends the container and keeps it, disconnected from its bridge: the bridge is removed, and a
// container with a missing network cannot be started again.
func (b *box) stop(ctx context.Context) error {
	if b.id == "" {
		return nil
	}
	if err := b.end(ctx); err != nil || b.bridge == "" {
		return err
	}
	return b.connect(ctx, noNetwork)
}

// halt kills a container. A container that does not run, or is missing, is a success.
func (d *Daemon) halt(ctx context.Context, name string) error {
	ctx, cancel := d.call(ctx)
	defer cancel()
	err := d.api.ContainerKill(ctx, name, "KILL")
	if err == nil || errdefs.IsConflict(err) || errdefs.IsNotFound(err) || mentions(err, "is not running") {
		return nil
	}
	return fmt.Errorf("ending container %s: %w", name, d.explain(err))
}

// Reaper returns a reaper for backend.Reap, which removes the container and the files of a dead run's
// session. connect returns the daemon at an entry's Host. It succeeds if nothing is left; for a session
// that was opened recently, this takes up to latest. The runs must have been dead when Reaper was called.
func Reaper(connect func(host string) (*Daemon, error)) func(context.Context, backend.Entry) error {
	until := time.Now().Add(latest)
	return func(ctx context.Context, e backend.Entry) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := reap(ctx, connect, e, until); err != nil {
			return fmt.Errorf("session %s: %w", e.ID, err)
		}
		return nil
	}
}

func reap(ctx context.Context, connect func(host string) (*Daemon, error), e backend.Entry, until time.Time) error {
	if e.Host == "" || e.Workspace != "" && !workspace.IsBase(e.Workspace, e.ID) {
		return fmt.Errorf("its registry entry is damaged; remove container %s%s and %q by hand", namePrefix, e.ID, e.Workspace)
	}
	d, err := connect(e.Host)
	if err != nil {
		return err
	}
	defer d.Close()
	if e.Keep {
		return errors.Join(d.halt(ctx, namePrefix+e.ID), d.halt(ctx, keptPrefix+e.ID))
	}
	if e.Opened.Add(d.wait.call).After(time.Now()) {
		if err := d.await(ctx, e, until); err != nil {
			return err
		}
	}
	if e.Network {
		return d.reapNetwork(ctx, namePrefix+e.ID)
	}
	if err := d.remove(ctx, namePrefix+e.ID); err != nil {
		return err
	}
	if e.Workspace == "" {
		return nil
	}
	return workspace.Remove(e.Workspace)
}

// reapNetwork removes a network. Containers of dead runs can be on it, and a kept container could not be
// started without it. A container whose removal a dead run began, or a daemon that ended, is removed first: a daemon
// refuses to disconnect it.
func (d *Daemon) reapNetwork(ctx context.Context, name string) error {
	look, cancel := d.call(ctx)
	defer cancel()
	left, err := d.api.ContainerList(look, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("network", name), filters.Arg("label", LabelRun))})
	for _, c := range left {
		if err == nil {
			err = d.halt(ctx, c.ID)
		}
		if err == nil {
			err = d.api.NetworkDisconnect(look, name, c.ID, true)
		}
		if err == nil {
			err = d.api.NetworkConnect(look, noNetwork, c.ID, nil)
		}
		if err != nil && mentions(err, "marked for removal") {
			err = d.remove(ctx, c.ID)
		}
	}
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("clearing network %s: %w", name, d.explain(err))
	}
	return d.removeNetwork(ctx, name)
}

// latest limits how long after the death of a run a container can appear that the run requested, since the
// daemon completes the request. That takes a tenth of a second, or more under load.
const latest = 5 * time.Second

// await waits until the object that an entry names exists, up to a limit.
func (d *Daemon) await(ctx context.Context, e backend.Entry, until time.Time) error {
	name := namePrefix + e.ID
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	for {
		var err error
		if e.Network {
			_, err = d.api.NetworkInspect(ctx, name, network.InspectOptions{})
		} else {
			_, err = d.api.ContainerInspect(ctx, name)
		}
		switch {
		case err == nil:
			return nil
		case !time.Now().Before(until):
			return nil
		case !errdefs.IsNotFound(err):
			return fmt.Errorf("listing leftovers of %s: %w", name, d.explain(err))
		}
		_ = retry.Sleep(ctx, 100*time.Millisecond)
	}
}
