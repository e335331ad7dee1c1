package causes

import (
	"context"

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
