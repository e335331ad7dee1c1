package docker

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/backend"
)

// The content of images, and the answers of their containers, do not change
// while image, daemon and questions stay the same. They are stored between
// runs, so that a run without work starts no container.

// memory returns the path of the file for facts that depend on the parts.
func (b *Backend) memory(suffix string, parts ...string) string {
	return filepath.Join(b.opt.Facts, snapshotTag(parts...)+suffix)
}

// recall returns the stored content, or nil if it is missing or not proven.
func (b *Backend) recall(name string) []byte {
	if b.opt.Facts == "" {
		return nil
	}
	return b.opt.Place.Read(name)
}

// remember stores content. It is best effort: without it, the next run queries
// again.
func (b *Backend) remember(name string, text []byte) {
	if b.opt.Facts != "" && !b.opt.FactsReadOnly && os.MkdirAll(b.opt.Facts, 0o755) == nil {
		_ = b.opt.Place.Write(name, 0o644, text)
	}
}

// storedFacts encodes facts.
type storedFacts struct {
	UID, GID int
	Python   string
	Version  string
	Limits   backend.LowLimits
}

// forget removes the stored facts if err reports that they are wrong: the daemon's limits can change.
func (b *Backend) forget(err error) {
	wrong := (*backend.ToolError)(nil)
	if errors.As(err, &wrong) && wrong.Hint == backend.LimitsChanged && b.factsFile != "" && !b.opt.FactsReadOnly {
		_ = os.Remove(b.factsFile)
	}
}

// ask returns the facts that an earlier run stored, or queries a container.
func (b *Backend) ask(ctx context.Context, image *resolvedImage) (*facts, error) {
	if b.opt.Facts == "" {
		return b.probe(ctx, image)
	}
	about, err := b.d.info(ctx)
	if err != nil {
		return nil, err
	}
	questions := []string{"by the runner, with limits", about.id, about.engine, image.id, b.user(image), b.opt.Python}
	name := b.memory(".json", append(questions, b.opt.Env...)...)
	b.factsFile = name
	var k storedFacts
	if json.Unmarshal(b.recall(name), &k) == nil && k.Version != "" && k.Limits != nil {
		return &facts{uid: k.UID, gid: k.GID, python: k.Python, version: k.Version, limits: k.Limits}, nil
	}
	found, err := b.probe(ctx, image)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(storedFacts{UID: found.uid, GID: found.gid, Python: found.python, Version: found.version, Limits: found.limits})
	if err == nil {
		b.remember(name, text)
	}
	return found, err
}
