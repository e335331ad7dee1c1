package graph

import (
	"context"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
)

// RefusedOutput is the only output of a node whose source cannot be judged through its author's fault: a
// text with the reason. Nodes that depend on such a node do no work and have the same output, until a
// Refuser turns it into a verdict.
const RefusedOutput = "refused"

// Refuser is a Task that handles refused inputs: Refused is called instead of Run.
type Refuser interface {
	Refused(ctx context.Context, w *Work, why string) (Outcome, error)
}

// maxRefusal limits the text of a RefusedOutput, in bytes.
const maxRefusal = 1 << 20

// Refused reports whether the outputs of a node are a RefusedOutput.
func Refused(outputs []cache.Output) bool {
	return len(outputs) == 1 && outputs[0].Name == RefusedOutput
}

// perform runs a task, or handles a refused input.
func perform(ctx context.Context, t Task, w *Work) (Outcome, error) {
	for i := range w.inputs {
		if !Refused(w.inputs[i].outputs) {
			continue
		}
		why := w.inputs[i].outputs[0]
		text, err := cache.ReadBlob(ctx, w.Store, why.Digest, maxRefusal)
		if err != nil {
			return Outcome{}, fmt.Errorf("reading why %q is refused: %w", w.inputs[i].dep.As, err)
		}
		if t, ok := t.(Refuser); ok {
			return t.Refused(ctx, w, string(text))
		}
		return Outcome{Outputs: []cache.Output{why}, Message: string(text)}, nil
	}
	return t.Run(ctx, w)
}
