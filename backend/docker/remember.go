package docker

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
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
	questions := []string{"by the runner", about.id, about.engine, image.id, b.user(image), b.opt.Python}
	name := b.memory(".json", append(questions, b.opt.Env...)...)
	var k storedFacts
	if json.Unmarshal(b.recall(name), &k) == nil && k.Version != "" {
		return &facts{uid: k.UID, gid: k.GID, python: k.Python, version: k.Version}, nil
	}
	found, err := b.probe(ctx, image)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(storedFacts{UID: found.uid, GID: found.gid, Python: found.python, Version: found.version})
	if err == nil {
		b.remember(name, text)
	}
	return found, err
}
