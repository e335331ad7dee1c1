package docker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"

	"github.com/fevalgraph/fevalgraph/cache"
)

// builtRepository is the name of built images. Their tags are digests of their
// content and the project, so that no project removes the image of another.
const builtRepository = "fevalgraph/image"

func (b *Backend) builtName(content cache.Digest) string {
	return builtRepository + ":" + content.Hex() + "-" + cmp.Or(b.opt.Project, "none")
}

// Find looks for a built image by the digest of Build's result, and uses it
// for later containers. An image with the name but other content does not
// count.
func (b *Backend) Find(ctx context.Context, content cache.Digest) (bool, error) {
	if b.err != nil {
		return false, b.err
	}
	image, err := b.d.inspect(ctx, Options{Origin: Origin{Image: b.builtName(content)}})
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	found, err := b.content(ctx, image.id)
	if err != nil || cache.SumBytes(found) != content {
		return false, err
	}
	b.use(image)
	return true, nil
}

// adopt gives an image its name. If an image with the same content already has
// the name, it keeps the name, since snapshots are based on it, and the new
// image is unused.
func (b *Backend) adopt(ctx context.Context, id string, found []byte) (*resolvedImage, error) {
	name := b.builtName(cache.SumBytes(found))
	ctx, cancel := b.d.call(ctx)
	defer cancel()
	before, err := b.d.inspect(ctx, Options{Origin: Origin{Image: name}})
	switch {
	case err == nil && before.id == id:
		return before, nil
	case err == nil:
		known, err := b.content(ctx, before.id)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(known, found) {
			// Steps stay for later builds. An image in use stays, too.
			_, _ = b.d.api.ImageRemove(ctx, id, image.RemoveOptions{})
			return before, nil
		}
	case !errdefs.IsNotFound(err):
		return nil, err
	}
	if err := b.d.api.ImageTag(ctx, id, name); err != nil {
		return nil, fmt.Errorf("naming image %s: %w", id, b.d.explain(err))
	}
	return b.d.inspect(ctx, Options{Origin: Origin{Image: name}})
}

// use sets the image of later containers.
func (b *Backend) use(image *resolvedImage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.image == nil || b.image.id != image.id {
		b.image, b.facts = image, nil
	}
}

// errNotBuilt means that the image of containers was not built.
var errNotBuilt = errors.New("the image has not been built")
