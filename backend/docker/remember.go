package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
)

// What containers of an image say about themselves does not change while image,
// daemon and questions stay the same: it is remembered between runs, so that
// one in which nothing is to be done starts no container.

// known is the file for one set of questions.
type known struct {
	UID, GID int
	Python   string
	Version  string
	Told     bool
}

// recall returns what was remembered, nil when nothing was, or nothing whole.
func (b *Backend) recall(name string) *facts {
	sealed, err := os.ReadFile(name)
	text, whole := cache.Unseal(sealed)
	var k known
	if err != nil || !whole || json.Unmarshal(text, &k) != nil || k.Version == "" {
		return nil
	}
	return &facts{uid: k.UID, gid: k.GID, python: k.Python, version: k.Version, told: k.Told}
}

// remember is best effort: without it the next run asks again.
func (b *Backend) remember(name string, f *facts) {
	text, err := json.Marshal(known{UID: f.uid, GID: f.gid, Python: f.python, Version: f.version, Told: f.told})
	if err == nil && os.MkdirAll(filepath.Dir(name), 0o755) == nil {
		_ = atomicfile.Write(name, 0o644, cache.Seal(text))
	}
}

// ask returns the facts, of an earlier run's memory or of a probe.
func (b *Backend) ask(ctx context.Context, image *resolved) (*facts, error) {
	if b.opt.Facts == "" {
		return b.probe(ctx, image)
	}
	about, err := b.d.about(ctx)
	if err != nil {
		return nil, err
	}
	questions := []string{about.id, about.engine, image.id, b.user(image), b.opt.Python, fmt.Sprint(b.opt.NoInit)}
	name := filepath.Join(b.opt.Facts, snapshotTag(append(questions, b.opt.Env...)...)+".json")
	if found := b.recall(name); found != nil {
		return found, nil
	}
	found, err := b.probe(ctx, image)
	if err == nil && !b.opt.FactsReadOnly {
		b.remember(name, found)
	}
	return found, err
}
