package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"

	"github.com/fevalgraph/fevalgraph/backend"
)

// resolvedImage is an image on the daemon.
type resolvedImage struct {
	id       string // "sha256:…", of its content; unlike a tag, it never changes its meaning
	platform string // "linux/amd64"
	user     string // from its configuration
	env      []string
	workdir  string // from its configuration
}

// resolve finds o.Image, and pulls it as o.Pull specifies.
func (d *Daemon) resolve(ctx context.Context, o Options) (*resolvedImage, error) {
	if o.Image == "" {
		return nil, errors.New("no image is specified")
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
		return nil, &backend.ToolError{Tool: o.Image, Err: errors.New("image not found on the daemon"),
			Hint: "build or pull it; fevalgraph does not, because pull is " + string(o.Pull)}
	}
	if err := d.pull(ctx, o); err != nil {
		return nil, err
	}
	return d.inspect(ctx, o)
}

// inspect returns an error that satisfies errdefs.IsNotFound if the daemon lacks the image.
func (d *Daemon) inspect(ctx context.Context, o Options) (*resolvedImage, error) {
	ctx, cancel := d.ask(ctx)
	defer cancel()
	found, err := d.api.ImageInspect(ctx, o.Image)
	if err != nil {
		return nil, fmt.Errorf("inspecting image %s: %w", o.Image, d.explain(err))
	}
	r := &resolvedImage{id: found.ID, platform: found.Os + "/" + found.Architecture}
	if found.Variant != "" {
		r.platform += "/" + found.Variant
	}
	if found.Config != nil {
		r.user, r.env, r.workdir = found.Config.User, found.Config.Env, found.Config.WorkingDir
	}
	return r, nil
}

// pull pulls o.Image, without a time limit.
func (d *Daemon) pull(ctx context.Context, o Options) error {
	progress, err := d.api.ImagePull(ctx, o.Image, image.PullOptions{Platform: o.Platform})
	if err == nil {
		err = readMessages(progress, func(message) error { return nil })
		progress.Close()
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return &backend.ToolError{Tool: o.Image, Err: fmt.Errorf("pulling the image: %w", d.explain(err)),
			Hint: "check its name and the network, or log in to its registry and pull it by hand"}
	}
	return nil
}

// message is a message that the daemon sends while it pulls or builds.
type message struct {
	Stream string `json:"stream"`
	Error  string `json:"error"`
	Aux    struct {
		ID string `json:"ID"`
	} `json:"aux"`
}

// messageError is a failure in a message of the daemon.
type messageError struct{ text string }

func (e *messageError) Error() string { return e.text }

// readMessages calls each for every message, up to the end or to the first message that reports a failure.
func readMessages(r io.Reader, each func(message) error) error {
	for decoder := json.NewDecoder(r); ; {
		var m message
		err := decoder.Decode(&m)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err == nil && m.Error != "":
			err = &messageError{strings.TrimSpace(m.Error)}
		case err == nil:
			err = each(m)
		}
		if err != nil {
			return err
		}
	}
}
