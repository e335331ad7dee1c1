package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// content contains everything that commands can observe of an image. Its encoding identifies the image:
// builds with equal results are equal, regardless of their IDs. It omits times of files and of the image,
// and settings that sessions override.
type content struct {
	Recipe       int      `json:"recipe"` // must be incremented if content is described differently
	OS           string   `json:"os"`
	Architecture string   `json:"architecture"`
	Variant      string   `json:"variant,omitempty"`
	User         string   `json:"user,omitempty"`
	Env          []string `json:"env,omitempty"`
	Volumes      []string `json:"volumes,omitempty"`
	// Layers contains a digest of the files of each layer or, with a prefix, the daemon's digest if the format
	// of the layer is unknown.
	Layers []string `json:"layers"`
}

const contentRecipe = 1

// content returns the encoded content of an image. The daemon must send the whole image for that, so the
// result is cached; an ID always means the same image.
func (b *Backend) content(ctx context.Context, id string) ([]byte, error) {
	name := b.memory(".content", "content", fmt.Sprint(contentRecipe), id)
	if known := b.recall(name); known != nil {
		return known, nil
	}
	found, err := b.d.content(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("reading image %s: %w", id, err)
	}
	b.remember(name, found)
	return found, nil
}

func (d *Daemon) content(ctx context.Context, id string) ([]byte, error) {
	look, cancel := d.ask(ctx)
	defer cancel()
	found, err := d.api.ImageInspect(look, id)
	if err != nil {
		return nil, d.explain(err)
	}
	c := content{Recipe: contentRecipe, OS: found.Os, Architecture: found.Architecture, Variant: found.Variant}
	if found.Config != nil {
		c.User, c.Env = found.Config.User, found.Config.Env
		c.Volumes = slices.Sorted(maps.Keys(found.Config.Volumes))
	}
	saved, err := d.api.ImageSave(ctx, []string{id})
	if err != nil {
		return nil, d.explain(err)
	}
	c.Layers, err = Layers(saved)
	saved.Close()
	switch cause := context.Cause(ctx); {
	case cause != nil:
		return nil, cause
	case errors.Is(err, ErrOtherLayers):
		c.Layers = nil
		for _, layer := range found.RootFS.Layers {
			c.Layers = append(c.Layers, "with times "+layer)
		}
	case err != nil:
		return nil, d.explain(err)
	}
	return json.Marshal(c)
}
