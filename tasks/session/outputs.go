package session

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

// maxInput bounds an output that ReadInput returns, in bytes.
const maxInput = 1 << 30

// ReadInput returns an output that a dependency must have.
func ReadInput(ctx context.Context, w *graph.Work, as, output string) ([]byte, error) {
	d, ok := w.Input(as, output)
	if !ok {
		return nil, fmt.Errorf("dependency %q has no output %q", as, output)
	}
	content, err := cache.ReadBlob(ctx, w.Store, d, maxInput)
	if err != nil {
		return nil, fmt.Errorf("reading the %s of %q: %w", output, as, err)
	}
	return content, nil
}

// ReadInputJSON decodes an output that a dependency must have.
func ReadInputJSON(ctx context.Context, w *graph.Work, as, output string, into any) error {
	content, err := ReadInput(ctx, w, as, output)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("decoding the %s of %q: %w", output, as, err)
	}
	return nil
}

// Refuse returns the outcome of a task whose submission is refused.
func Refuse(ctx context.Context, store cache.Store, why string) (graph.Outcome, error) {
	d, err := cache.PutBytes(ctx, store, []byte(why))
	if err != nil {
		return graph.Outcome{}, fmt.Errorf("storing why the submission is refused: %w", err)
	}
	return graph.Outcome{Outputs: []cache.Output{{Name: graph.RefusedOutput, Digest: d}}, Message: why}, nil
}

// RefuseSpoiled returns the outcome of a task whose submission is refused for an error that it can
// have caused, in an attempt alone.
func RefuseSpoiled(ctx context.Context, store cache.Store, spoiled error) (graph.Outcome, error) {
	return Refuse(ctx, store, fmt.Sprintf("twice, also with nothing of this run beside it: %v", spoiled))
}
