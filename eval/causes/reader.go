package causes

import (
	"context"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
)

// reader reads the records of a side.
type reader struct{ store cache.Store }

// manifest returns the manifest of a key, or nil if its record is gone.
func (r reader) manifest(ctx context.Context, key cache.Key) ([]graph.Field, error) {
	record, err := r.store.Record(ctx, key)
	if err != nil || record == nil {
		return nil, err
	}
	return graph.DecodeManifest(record.Manifest)
}

// files returns the files of a tree as fields of a manifest.
func (r reader) files(ctx context.Context, tree cache.Digest) ([]graph.Field, error) {
	var all []graph.Field
	err := cache.WalkTree(ctx, r.store, tree, func(e cache.Entry) error {
		if !e.Dir {
			all = append(all, graph.Field{Label: "file " + e.Path, Value: fmt.Sprintf("%s %t %s", e.Digest, e.Executable, e.Link)})
		}
		return nil
	})
	return all, err
}
