package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/network"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// Special values of Options.Network.
const (
	noNetwork = "none"
	// bridgeNetwork means a bridge without other containers. On the daemon's bridge of that name, containers
	// could reach each other.
	bridgeNetwork = "bridge"
)

// mtuOption is the maximum size of packets. Only the daemon's own bridge has the configured value by
// default, and packets that are too large for the path are lost.
const mtuOption = "com.docker.network.driver.mtu"

// bridges manages networks for one container at a time. A bridge that a container has left is reused: no
// trace of the container remains, and creating and removing a bridge takes a third of the time of a
// container. Idle bridges are removed after a while, because a daemon has addresses for about thirty,
// which other runs and programs need, too.
type bridges struct {
	b *Backend

	mu    sync.Mutex
	idle  []idleBridge // longest idle first
	inUse int          // bridges with a container

	pairMu sync.Mutex // held while a session acquires two

	removing sync.Mutex // held while idle bridges are removed, so that Close waits for them
}

// idleBridge names a network without a container.
type idleBridge struct {
	name  string
	since time.Time
}

// addressesAgain delays another request for a network.
const addressesAgain = time.Second

// acquire returns a bridge for a container, which must be given back when the container has left it. If
// the daemon has no addresses left, it waits for the bridge of another container of this run.
func (s *bridges) acquire(ctx context.Context) (name string, err error) {
	return s.await(ctx, 0, s.find)
}

// acquirePrivate returns a new bridge for several containers, which is removed after use, and, if
// requested, a bridge from acquire. If internal is set, the private network has no access to others.
func (s *bridges) acquirePrivate(ctx context.Context, internal, and bool) (name, outside string, err error) {
	held := 0
	if and {
		s.pairMu.Lock() // otherwise two sessions with one network each could wait for each other
		defer s.pairMu.Unlock()
		if outside, err = s.acquire(ctx); err != nil {
			return "", "", err
		}
		held = 1
	}
	name, err = s.await(ctx, held, func(ctx context.Context) (string, error) { return s.add(ctx, internal) })
	if err != nil && outside != "" {
		s.give(outside)
		outside = ""
	}
	return name, outside, err
}

// removePrivate removes a network of acquirePrivate. It can be called again after a failure.
func (s *bridges) removePrivate(ctx context.Context, name string) error {
	err := s.remove(ctx, name)
	if err == nil {
		s.mu.Lock()
		s.inUse--
		s.mu.Unlock()
	}
	return err
}

// await calls find until addresses are available. The caller holds some bridges, for which it must not
// wait.
func (s *bridges) await(ctx context.Context, held int, find func(context.Context) (string, error)) (name string, err error) {
	tries := retry.Tries{Patience: retry.Patience{For: s.b.d.wait.addresses, Pause: addressesAgain}}
	for {
		s.mu.Lock()
		awaited := s.inUse > held // before the attempt: a bridge that is given back during it serves the next attempt
		s.mu.Unlock()
		name, err = find(ctx)
		if err == nil {
			s.mu.Lock()
			s.inUse++
			s.mu.Unlock()
		}
		if !errors.Is(err, errNoAddresses) {
			return name, err
		}
		if awaited {
			err = retry.Sleep(ctx, addressesAgain)
		} else {
			err = tries.Wait(ctx, err)
		}
		if err != nil {
			return "", err
		}
	}
}

// find returns an idle bridge, or creates one.
func (s *bridges) find(ctx context.Context) (name string, err error) {
	for {
		s.mu.Lock()
		last := len(s.idle) - 1
		if last >= 0 {
			name = s.idle[last].name
			s.idle = s.idle[:last]
		}
		s.mu.Unlock()
		if last < 0 {
			return s.add(ctx, false)
		}
		found, err := s.b.d.api.NetworkInspect(ctx, name, network.InspectOptions{})
		if err == nil && len(found.Containers) == 0 {
			return name, nil
		}
		// Another client has removed it, or connected a container to it.
		if err := s.remove(ctx, name); err != nil {
			return "", err
		}
	}
}

func (s *bridges) give(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, idleBridge{name, time.Now()})
	s.inUse--
	time.AfterFunc(s.b.d.wait.idle, s.trim)
}

// trim removes bridges that have been idle for a long time. Close retries failed removals.
func (s *bridges) trim() {
	s.removing.Lock()
	defer s.removing.Unlock()
	s.mu.Lock()
	long := slices.IndexFunc(s.idle, func(b idleBridge) bool { return time.Since(b.since) < s.b.d.wait.idle })
	if long < 0 {
		long = len(s.idle)
	}
	old := s.idle[:long]
	s.idle = slices.Clone(s.idle[long:])
	s.mu.Unlock()
	s.removeIdle(context.Background(), old) // Close retries and reports the error
}

// removeIdle removes bridges that the caller took from the list, and puts back the ones that it fails to
// remove.
func (s *bridges) removeIdle(ctx context.Context, old []idleBridge) error {
	errs := make([]error, len(old))
	var group sync.WaitGroup
	for i, one := range old {
		group.Go(func() { errs[i] = s.remove(ctx, one.name) })
	}
	group.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, one := range old {
		if errs[i] != nil {
			s.idle = slices.Insert(s.idle, 0, one)
		}
	}
	return errors.Join(errs...)
}

// errNoAddresses is the cause of the error for a network that the daemon cannot give addresses to.
var errNoAddresses = errors.New("the daemon has no addresses left for another network")

// add creates a bridge.
func (s *bridges) add(ctx context.Context, internal bool) (name string, err error) {
	known, err := s.b.d.bridgeOptions(ctx)
	if err != nil {
		return "", err
	}
	options := maps.Clone(known)
	if internal { // the machine has no address on it, so that its services are unreachable
		options["com.docker.network.bridge.inhibit_ipv4"], options["com.docker.network.bridge.gateway_mode_ipv4"] = "true", "isolated"
	}
	id := workspace.NewID()
	if err := s.b.register(backend.Entry{ID: id, Name: "network", Network: true}); err != nil {
		return "", err
	}
	name = namePrefix + id
	labels := map[string]string{LabelProject: s.b.opt.Project, LabelRun: s.b.opt.Run}
	_, err = s.b.d.api.NetworkCreate(ctx, name, network.CreateOptions{Driver: "bridge", Internal: internal, Labels: labels, Options: options})
	if err == nil {
		return name, nil
	}
	if err = s.b.d.explain(err); mentions(err, "address pool") {
		err = &backend.ToolError{Tool: tool, Err: fmt.Errorf("%w: %w", errNoAddresses, err),
			Hint: "remove unused networks with docker network prune, lower -j, or give the daemon more default-address-pools"}
	} else {
		err = fmt.Errorf("creating a network: %w", err)
	}
	return "", errors.Join(err, s.remove(ctx, name))
}

func (s *bridges) remove(ctx context.Context, name string) error {
	if err := s.b.d.removeNetwork(ctx, name); err != nil {
		return err
	}
	return s.b.unregister(name[len(namePrefix):])
}

// Close removes the networks that no session uses. It can be called again, is bounded in time, and
// completes even if ctx is cancelled. Networks that it cannot remove stay in the registry.
func (b *Backend) Close(ctx context.Context) error {
	s := &b.bridges
	s.removing.Lock()
	defer s.removing.Unlock()
	s.mu.Lock()
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	return s.removeIdle(ctx, idle)
}

// bridgeOptions returns the options of the daemon's own bridge that other bridges also need.
func (d *Daemon) bridgeOptions(ctx context.Context) (map[string]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bridge == nil {
		found, err := d.api.NetworkInspect(ctx, bridgeNetwork, network.InspectOptions{})
		if err != nil && !errdefs.IsNotFound(err) {
			return nil, fmt.Errorf("listing the daemon's networks: %w", d.explain(err))
		}
		d.bridge = map[string]string{}
		if mtu := found.Options[mtuOption]; mtu != "" {
			d.bridge[mtuOption] = mtu
		}
	}
	return d.bridge, nil
}

// removeNetwork removes a network. A missing network is a success.
func (d *Daemon) removeNetwork(ctx context.Context, name string) error {
	ctx, cancel := d.call(ctx)
	defer cancel()
	err := d.api.NetworkRemove(ctx, name)
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("removing network %s: %w", name, d.explain(err))
}

// join acquires a network for this container, which must be on none, and returns the daemon's name of it.
func (b *box) join(ctx context.Context, on string) (name string, err error) {
	b.leave()
	if on != bridgeNetwork {
		return on, nil
	}
	b.bridge, err = b.bridges.acquire(ctx)
	return b.bridge, err
}

// leave gives the container's bridge back.
func (b *box) leave() {
	if b.bridge != "" {
		b.bridges.give(b.bridge)
		b.bridge = ""
	}
}

// connect moves the container, which must not run, to another network.
func (b *box) connect(ctx context.Context, on string) error {
	if on == b.network {
		return nil
	}
	ctx, cancel := b.d.call(ctx)
	defer cancel()
	if b.network != "" {
		from := cmp.Or(b.bridge, b.network)
		if err := b.d.api.NetworkDisconnect(ctx, from, b.id, true); err != nil {
			return fmt.Errorf("disconnecting the container from network %s: %w", from, b.d.explain(err))
		}
		b.network = ""
	}
	to, err := b.join(ctx, on)
	if err != nil {
		return err
	}
	if err := b.d.api.NetworkConnect(ctx, to, b.id, nil); err != nil {
		return fmt.Errorf("connecting the container to network %s: %w", to, b.d.explain(err))
	}
	b.network = on
	return nil
}
