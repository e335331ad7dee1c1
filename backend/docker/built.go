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

// builtRepository names the images that were built; their tags are the digests
// of their contents and the project, so that none removes another's.
const builtRepository = "fevalgraph/image"

func (b *Backend) builtName(content cache.Digest) string {
	return builtRepository + ":" + content.Hex() + "-" + cmp.Or(b.opt.Project, "none")
}

// Find looks for an image that was built, by the digest of what Build returned,
// and has containers made of it. It is there only if the image that bears its
// name has that content.
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

// adopt gives an image its name. One with the same content that has the name
// keeps it: snapshots were made of that. The other is then of no use.
func (b *Backend) adopt(ctx context.Context, id string, found []byte) (*resolved, error) {
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

// use sets the image that containers are made of.
func (b *Backend) use(image *resolved) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.image == nil || b.image.id != image.id {
		b.image, b.facts = image, nil
	}
}

// errNotBuilt reports that the image of containers was not built.
var errNotBuilt = errors.New("its image has not been built")
