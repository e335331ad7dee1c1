package docker

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"

	"github.com/fevalgraph/fevalgraph/backend/workspace"
)

// LeftoverKind classifies a Leftover.
type LeftoverKind int

// The kinds, in removal order: objects before the objects that they are based on.
const (
	LeftContainer LeftoverKind = iota
	LeftNetwork
	LeftSnapshot // an image that Prepare made
	LeftBuilt    // an image that Build made
)

// Leftover is a container, a network or an image that carries the labels of a
// project.
type Leftover struct {
	Kind    LeftoverKind
	ID      string
	Name    string // of the container or network, or a reference of the image
	Project string
	Run     string // of a container or network
	Node    string // of a container: address of its node
	State   string // of a container: "running", "exited", "created" ...
	Kept    bool   // kept for inspection
	Enter   string // of a kept container: the command that opens a shell in it
	Created time.Time
	Bytes   int64 // of an image, with what it shares with others

	workspace string // of a container: its directory on this machine, "" for none
}

// IsImage reports whether it is an image.
func (l Leftover) IsImage() bool { return l.Kind == LeftSnapshot || l.Kind == LeftBuilt }

// Leftovers lists everything with the labels of a project, or of any project if project is "": containers
// first, then networks, snapshots and images that were built, the oldest first. It includes those of
// living runs.
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
			State: c.State, Kept: strings.HasPrefix(name, keptPrefix), Created: time.Unix(c.Created, 0),
			workspace: workspaceOf(&c),
		}
		if l.Kept {
			l.Enter = enter(name, c.Labels[LabelWorkdir], c.Labels[LabelUser])
		}
		left = append(left, l)
	}
	for _, n := range networks {
		left = append(left, Leftover{Kind: LeftNetwork, ID: n.ID, Name: n.Name, Project: n.Labels[LabelProject], Run: n.Labels[LabelRun], Node: n.Labels[LabelNode], Created: n.Created})
	}
	for _, i := range images {
		// A snapshot based on a built image has the labels of that image, too.
		l := Leftover{Kind: LeftSnapshot, ID: i.ID, Name: i.ID, Project: i.Labels[LabelProject], Created: time.Unix(i.Created, 0), Bytes: i.Size}
		switch {
		case i.Labels[LabelSnapshot] != "":
		case i.Labels[LabelImage] != "":
			l.Kind = LeftBuilt
		default:
			continue
		}
		// If two builds created the image at the same time, the other one has the name.
		if len(i.RepoTags) > 0 && i.RepoTags[0] != noTag {
			l.Name = i.RepoTags[0]
		}
		left = append(left, l)
	}
	slices.SortStableFunc(left, func(a, b Leftover) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), a.Created.Compare(b.Created))
	})
	return left, nil
}

// noTag is the tag of an image that has lost its name.
const noTag = "<none>:<none>"

// Remove removes a leftover, and ends what runs in it. A missing leftover is a success.
func (d *Daemon) Remove(ctx context.Context, l Leftover) error {
	switch l.Kind {
	case LeftContainer:
		return d.removeKept(ctx, l)
	case LeftNetwork:
		return d.removeNetwork(ctx, l.ID)
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

// keptPrefix precedes the session's id in the name of a container that is kept for inspection: labels of
// an existing container cannot be changed.
const keptPrefix = "fevalgraph-kept-"

// Keep implements backend.Capabilities.Keep for one session. If no command was run, it keeps nothing.
func (s *session) Keep(ctx context.Context) (how string, err error) {
	if s.closed {
		return "", fmt.Errorf("keeping the container: session: %w", fs.ErrClosed)
	}
	if s.box.id == "" {
		return "", nil
	}
	// From here on, a process that reaps this run must know.
	err = s.register(true)
	if err == nil {
		err = s.b.d.rename(ctx, s.box.id, keptPrefix+s.id)
	}
	if err != nil {
		return "", fmt.Errorf("keeping the container: %w", err)
	}
	s.keep = true
	return enter(keptPrefix+s.id, s.Dir(), s.b.user(s.image)), nil
}

// enter returns the command that opens a shell in a kept container, as the user of its commands.
func enter(name, dir, user string) string {
	return "docker start " + name + " && docker exec -it -u " + quote(user) + " -w " + quote(dir) + " " + name + " /bin/sh"
}

// quote quotes a text as one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (d *Daemon) rename(ctx context.Context, id, name string) error {
	ctx, cancel := d.call(ctx)
	defer cancel()
	return d.explain(d.api.ContainerRename(ctx, id, name))
}

// workspaceOf returns the directory of this machine with the files of a session's container, or "" if they
// are in the container.
func workspaceOf(c *container.Summary) string {
	for _, m := range c.Mounts {
		base := filepath.Dir(m.Source)
		if m.Destination == homePath && workspace.IsBase(base, c.Labels[LabelSession]) {
			return base
		}
	}
	return ""
}

// removeKept removes a kept container and then its files.
func (d *Daemon) removeKept(ctx context.Context, l Leftover) error {
	if err := d.remove(ctx, l.ID); err != nil && !errdefs.IsNotFound(err) {
		return err
	}
	if l.workspace == "" {
		return nil
	}
	return workspace.Remove(l.workspace)
}
