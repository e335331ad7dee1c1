package docker

import (
	"context"
	"fmt"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/network"
	"github.com/fevalgraph/fevalgraph/backend"
)

// Networks of Options that are not the name of one that the daemon has.
const (
	noNetwork = "none"
	// bridgeNetwork is a bridge of the container's own, which has its name and
	// its labels. The daemon's bridge of that name would have containers meet.
	bridgeNetwork = "bridge"
)

// mtuOption is the size of packets. Only the daemon's own bridge has what its
// configuration says, and packets that are too large for the way are lost.
const mtuOption = "com.docker.network.driver.mtu"

// join returns what the daemon calls a network for this container, which is on
// none. Its own is made for that, and is removed when the container is to be on
// another: addresses are few, and tests take long.
func (b *box) join(ctx context.Context, on string) (string, error) {
	if err := b.leave(ctx); err != nil || on != bridgeNetwork {
		return on, err
	}
	options, err := b.d.bridgeOptions(ctx)
	if err != nil {
		return "", err
	}
	b.own = true
	_, err = b.d.api.NetworkCreate(ctx, b.name, network.CreateOptions{Driver: "bridge", Labels: b.labels, Options: options})
	if err = b.d.explain(err); err != nil && says(err, "address pool") {
		return "", &backend.ToolError{Tool: tool, Err: fmt.Errorf("the daemon has no addresses left for another network: %w", err),
			Hint: "remove unused networks with docker network prune, lower -j, or give the daemon more default-address-pools"}
	}
	if err != nil {
		return "", fmt.Errorf("making a network: %w", err)
	}
	return b.name, nil
}

// bridgeOptions are those that the daemon's own bridge has and others need, too.
func (d *Daemon) bridgeOptions(ctx context.Context) (map[string]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bridge == nil {
		found, err := d.api.NetworkInspect(ctx, bridgeNetwork, network.InspectOptions{})
		if err != nil && !errdefs.IsNotFound(err) {
			return nil, fmt.Errorf("looking at the daemon's networks: %w", d.explain(err))
		}
		d.bridge = map[string]string{}
		if mtu := found.Options[mtuOption]; mtu != "" {
			d.bridge[mtuOption] = mtu
		}
	}
	return d.bridge, nil
}

// connect puts the container, which must not run, on another network.
func (b *box) connect(ctx context.Context, on string) error {
	if on == b.network {
		return nil
	}
	ctx, cancel := b.d.call(ctx)
	defer cancel()
	if b.network != "" {
		from := b.network
		if from == bridgeNetwork {
			from = b.name
		}
		if err := b.d.api.NetworkDisconnect(ctx, from, b.id, true); err != nil {
			return fmt.Errorf("taking the container off network %s: %w", from, b.d.explain(err))
		}
		b.network = ""
	}
	to, err := b.join(ctx, on)
	if err != nil {
		return err
	}
	if err := b.d.api.NetworkConnect(ctx, to, b.id, nil); err != nil {
		return fmt.Errorf("putting the container on network %s: %w", to, b.d.explain(err))
	}
	b.network = on
	return nil
}

// leave removes the container's own network, on which nothing is any more.
func (b *box) leave(ctx context.Context) error {
	if !b.own {
		return nil
	}
	err := b.d.removeNetwork(ctx, b.name)
	b.own = err != nil
	return err
}

// removeNetwork removes a network. One that is not there is a success.
func (d *Daemon) removeNetwork(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.wait.remove)
	defer cancel()
	err := d.api.NetworkRemove(ctx, name)
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("removing network %s: %w", name, d.explain(err))
}

// detach takes a container that was kept off its own network, without which it
// could not be started later. One that is not there is a success.
func (d *Daemon) detach(ctx context.Context, container, name string) error {
	ctx, cancel := d.call(ctx)
	defer cancel()
	found, err := d.api.ContainerInspect(ctx, container)
	if err == nil && found.NetworkSettings != nil && found.NetworkSettings.Networks[name] != nil {
		err = d.api.NetworkDisconnect(ctx, name, container, true)
		if err == nil {
			err = d.api.NetworkConnect(ctx, noNetwork, container, nil)
		}
	}
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("taking container %s off network %s: %w", container, name, d.explain(err))
	}
	return nil
}
