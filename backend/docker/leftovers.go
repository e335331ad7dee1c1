package docker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
)

// Leftover is a container or a ground that carries the labels of a project.
type Leftover struct {
	ID      string
	Name    string // of the container, or a reference of the image
	Ground  bool   // an image that Prepare made, not a container
	Project string
	Run     string // of a container
	Node    string // of a container: the address it was made for
	State   string // of a container: "running", "exited", "created" ...
	Kept    bool   // it was left behind on purpose
	Created time.Time
	Bytes   int64 // of an image, with what it shares with others
}

// Leftovers lists what carries the labels of a project, or of any when project
// is empty: containers first, then grounds, the oldest first. Containers of
// runs that still live are among them.
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
	images, err := d.api.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", label), filters.Arg("label", LabelGround))})
	if err != nil {
		return nil, fmt.Errorf("listing images: %w", d.explain(err))
	}
	var left []Leftover
	for _, c := range containers {
		name := c.ID
		if len(c.Names) > 0 {
			name = strings.TrimPrefix(c.Names[0], "/")
		}
		left = append(left, Leftover{
			ID: c.ID, Name: name, Project: c.Labels[LabelProject], Run: c.Labels[LabelRun], Node: c.Labels[LabelNode],
			State: c.State, Kept: c.Labels[LabelKeep] != "", Created: time.Unix(c.Created, 0),
		})
	}
	for _, i := range images {
		name := i.ID
		// One that was made twice at a time has lost its name to the other.
		if len(i.RepoTags) > 0 && i.RepoTags[0] != "<none>:<none>" {
			name = i.RepoTags[0]
		}
		left = append(left, Leftover{
			ID: i.ID, Name: name, Ground: true, Project: i.Labels[LabelProject], Created: time.Unix(i.Created, 0), Bytes: i.Size,
		})
	}
	slices.SortStableFunc(left, func(a, b Leftover) int {
		if a.Ground != b.Ground {
			if a.Ground {
				return 1
			}
			return -1
		}
		return a.Created.Compare(b.Created)
	})
	return left, nil
}

// Remove removes a leftover, ending what runs in it. One that has gone is a
// success.
func (d *Daemon) Remove(ctx context.Context, l Leftover) error {
	if !l.Ground {
		return d.remove(ctx, l.ID)
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
