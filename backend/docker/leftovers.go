package docker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"
)

// Leftover is a container, a network or an image that carries the labels of a
// project.
type Leftover struct {
	ID       string
	Name     string // of the container or network, or a reference of the image
	Network  bool
	Snapshot bool // an image that Prepare made
	Built    bool // an image that Build made
	Project  string
	Run      string // of a container or network
	Node     string // of a container: the address it was made for
	State    string // of a container: "running", "exited", "created" ...
	Kept     bool   // it was left behind on purpose
	Enter    string // of a kept container: the command that opens a shell in it
	Created  time.Time
	Bytes    int64 // of an image, with what it shares with others

	workspace string // of a container: its directory on this machine, "" for none
}

// IsImage reports whether it is an image.
func (l Leftover) IsImage() bool { return l.Snapshot || l.Built }

// rank is the place of its kind: what is made of others comes before them.
func (l Leftover) rank() int {
	switch {
	case l.Network:
		return 1
	case l.Snapshot:
		return 2
	case l.Built:
		return 3
	}
	return 0
}

// Leftovers lists what carries the labels of a project, or of any when project
// is empty: containers first, then networks, snapshots, then images that were built, the
// oldest first. Those of runs that still live are among them.
func (d *Daemon) Leftovers(ctx context.Context, project string) ([]Leftover, error) {
	ctx, cancel := d.ask(ctx)
	defer cancel()
	label := LabelProject
	if project != "" {
		label += "=" + project
	}
	containers, err := d.api.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", label), filters.Arg("label", LabelRun))})
	if err != nil {
		return nil, fmt.Errorf("listing containers: %w", d.explain(err))
	}
	networks, err := d.api.NetworkList(ctx, network.ListOptions{Filters: filters.NewArgs(filters.Arg("label", label), filters.Arg("label", LabelRun))})
	if err != nil {
		return nil, fmt.Errorf("listing networks: %w", d.explain(err))
	}
	images, err := d.api.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", label))})
	if err != nil {
		return nil, fmt.Errorf("listing images: %w", d.explain(err))
	}
	var left []Leftover
	for _, c := range containers {
		name := c.ID
		if len(c.Names) > 0 {
			name = strings.TrimPrefix(c.Names[0], "/")
		}
		l := Leftover{
			ID: c.ID, Name: name, Project: c.Labels[LabelProject], Run: c.Labels[LabelRun], Node: c.Labels[LabelNode],
			State: c.State, Kept: c.Labels[LabelKeep] != "" || strings.HasPrefix(name, keptPrefix), Created: time.Unix(c.Created, 0),
			workspace: workspaceOf(&c),
		}
		if l.Kept {
			l.Enter = enter(name, c.Labels[LabelWorkdir])
		}
		left = append(left, l)
	}
	for _, n := range networks {
		left = append(left, Leftover{ID: n.ID, Name: n.Name, Network: true, Project: n.Labels[LabelProject], Run: n.Labels[LabelRun], Node: n.Labels[LabelNode], Created: n.Created})
	}
	for _, i := range images {
		// A snapshot on an image that was built has that one's labels, too.
		l := Leftover{ID: i.ID, Name: i.ID, Snapshot: i.Labels[LabelSnapshot] != "", Project: i.Labels[LabelProject], Created: time.Unix(i.Created, 0), Bytes: i.Size}
		l.Built = !l.Snapshot && i.Labels[LabelImage] != ""
		if !l.IsImage() {
			continue
		}
		// One that was made twice at a time has lost its name to the other.
		if len(i.RepoTags) > 0 && i.RepoTags[0] != noTag {
			l.Name = i.RepoTags[0]
		}
		left = append(left, l)
	}
	slices.SortStableFunc(left, func(a, b Leftover) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), a.Created.Compare(b.Created))
	})
	return left, nil
}

// noTag is what daemons call an image that has lost its name.
const noTag = "<none>:<none>"

// Remove removes a leftover, ending what runs in it. One that has gone is a
// success.
func (d *Daemon) Remove(ctx context.Context, l Leftover) error {
	switch {
	case l.Network:
		return d.removeNetwork(ctx, l.ID)
	case !l.IsImage():
		return d.removeKept(ctx, l)
	}
	ctx, cancel := d.call(ctx)
	defer cancel()
	// By its name: by its ID the daemon refuses an image with several.
	_, err := d.api.ImageRemove(ctx, l.Name, image.RemoveOptions{PruneChildren: true})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("removing image %s: %w", l.Name, d.explain(err))
	}
	return nil
}
