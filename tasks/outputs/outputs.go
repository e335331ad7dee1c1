// Package outputs stores what the work of a node made.
package outputs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
)

// Keeper stores outputs one after the other. Nothing is stored after an error.
type Keeper struct {
	Ctx     context.Context
	Store   cache.Store
	Outcome graph.Outcome // with the outputs that were stored
	Err     error         // the first one
}

// Keep stores an output. Its name is also what an error calls it.
func (k *Keeper) Keep(name string, content []byte) {
	if k.Err != nil {
		return
	}
	d, err := cache.PutBytes(k.Ctx, k.Store, content)
	if err != nil {
		k.Err = fmt.Errorf("storing the %s: %w", name, err)
		return
	}
	k.Outcome.Outputs = append(k.Outcome.Outputs, cache.Output{Name: name, Digest: d})
}

// JSON stores a value as JSON.
func (k *Keeper) JSON(name string, value any) {
	if k.Err != nil {
		return
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		k.Err = fmt.Errorf("encoding the %s: %w", name, err)
		return
	}
	k.Keep(name, encoded)
}
