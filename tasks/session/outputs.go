package session

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
)

// Keeper stores outputs one after another. It stores nothing after an error.
type Keeper struct {
	Ctx     context.Context
	Store   cache.Store
	Outcome graph.Outcome // with the stored outputs
	Err     error         // the first one
}

// Keep stores an output. Errors contain its name.
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

// maxInput limits an output that ReadInput returns, in bytes.
const maxInput = 1 << 30

// ReadInput returns a required output of a dependency.
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

// ReadInputJSON decodes a required output of a dependency.
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

// Refuse returns the outcome for a refused submission.
func Refuse(ctx context.Context, store cache.Store, why string) (graph.Outcome, error) {
	d, err := cache.PutBytes(ctx, store, []byte(why))
	if err != nil {
		return graph.Outcome{}, fmt.Errorf("storing why the submission is refused: %w", err)
	}
	return graph.Outcome{Outputs: []cache.Output{{Name: graph.RefusedOutput, Digest: d}}, Message: why}, nil
}

// RefuseSpoiled returns the outcome for a submission that is refused because of an error that it
// might have caused in an isolated attempt.
func RefuseSpoiled(ctx context.Context, store cache.Store, spoiled error) (graph.Outcome, error) {
	return Refuse(ctx, store, fmt.Sprintf("twice, the second time with no other node of this run next to it: %v", spoiled))
}
