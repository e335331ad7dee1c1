package docker

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
)

// keptPrefix and the session's id are what a container is called that is left
// behind on purpose: its labels cannot be changed any more then.
const keptPrefix = "fevalgraph-kept-"

// Keep implements backend.Capabilities.Keep for one session. Where no command was
// run there is nothing to keep.
func (s *session) Keep(ctx context.Context) (how string, err error) {
	if s.files == nil {
		return "", fmt.Errorf("keeping the container: session: %w", fs.ErrClosed)
	}
	if s.box.id == "" {
		return "", nil
	}
	// Whoever ends what this run leaves must know from here on.
	err = s.register(true)
	if err == nil {
		err = s.b.d.rename(ctx, s.box.id, keptPrefix+s.id)
	}
	if err != nil {
		return "", fmt.Errorf("keeping the container: %w", err)
	}
	s.keep = true
	return enter(keptPrefix+s.id, s.Dir()), nil
}

// enter is the command that opens a shell in a kept container.
func enter(name, dir string) string {
	return "docker start " + name + " && docker exec -it -w " + quote(dir) + " " + name + " /bin/sh"
}

func (d *Daemon) rename(ctx context.Context, id, name string) error {
	ctx, cancel := d.call(ctx)
	defer cancel()
	return d.explain(d.api.ContainerRename(ctx, id, name))
}

// workspaceOf returns the directory of this machine that a session's container
// has its files in, "" when they are its own.
func workspaceOf(c *container.Summary) string {
	for _, m := range c.Mounts {
		base := filepath.Dir(m.Source)
		if m.Destination == homePath && workspace.IsBase(base, c.Labels[LabelSession]) {
			return base
		}
	}
	return ""
}

// removeKept removes a container and then the files that it was left with.
func (d *Daemon) removeKept(ctx context.Context, l Leftover) error {
	if err := d.remove(ctx, l.ID); err != nil && !errdefs.IsNotFound(err) {
		return err
	}
	if l.workspace == "" {
		return nil
	}
	return workspace.Remove(l.workspace)
}
