package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
	"github.com/fevalgraph/fevalgraph/backend"
)

// resolved is an image as the daemon has it.
type resolved struct {
	id       string // "sha256:…", of its content: a tag may move, this may not
	platform string // "linux/amd64"
	user     string // as its configuration says
	env      []string
}

// resolve finds o.Image, fetching it when o.Pull says so.
func (d *Daemon) resolve(ctx context.Context, o Options) (*resolved, error) {
	if o.Image == "" {
		return nil, errors.New("no image is named")
	}
	if o.Pull == PullAlways {
		if err := d.pull(ctx, o); err != nil {
			return nil, err
		}
	}
	r, err := d.inspect(ctx, o)
	if !errdefs.IsNotFound(err) {
		return r, err
	}
	if o.Pull != PullMissing {
		return nil, &backend.ToolError{Tool: o.Image, Err: errors.New("the daemon has no such image"),
			Hint: "build or pull it; it is not fetched here, because pull is " + string(o.Pull)}
	}
	if err := d.pull(ctx, o); err != nil {
		return nil, err
	}
	return d.inspect(ctx, o)
}

// inspect returns an error for which errdefs.IsNotFound holds when the daemon
// does not have the image.
func (d *Daemon) inspect(ctx context.Context, o Options) (*resolved, error) {
	ctx, cancel := d.ask(ctx)
	defer cancel()
	found, err := d.api.ImageInspect(ctx, o.Image)
	if err != nil {
		return nil, fmt.Errorf("inspecting image %s: %w", o.Image, d.explain(err))
	}
	r := &resolved{id: found.ID, platform: found.Os + "/" + found.Architecture}
	if found.Variant != "" {
		r.platform += "/" + found.Variant
	}
	if found.Config != nil {
		r.user, r.env = found.Config.User, found.Config.Env
	}
	return r, nil
}

// pull fetches o.Image. That takes as long as it takes.
func (d *Daemon) pull(ctx context.Context, o Options) error {
	progress, err := d.api.ImagePull(ctx, o.Image, image.PullOptions{Platform: o.Platform})
	if err == nil {
		err = errors.Join(pullFailure(progress), progress.Close())
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return &backend.ToolError{Tool: o.Image, Err: fmt.Errorf("the image could not be pulled: %w", d.explain(err)),
			Hint: "check its name and the network, or pull it by hand, where you are logged in to its registry"}
	}
	return nil
}

// pullFailure reads the messages of a pull to their end; one may say that it
// failed.
func pullFailure(progress io.Reader) error {
	decoder := json.NewDecoder(progress)
	for {
		var message struct {
			Error string `json:"error"`
		}
		err := decoder.Decode(&message)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if message.Error != "" {
			return errors.New(message.Error)
		}
	}
}
