package eval

import "context"

// Compare runs one round of Wait, without waiting. It returns the path that changed, if any, and whether Wait would run
// the call again.
func (w *Watch) Compare(ctx context.Context) (path string, again bool) {
	path = w.inputs.difference()
	return path, path != "" && w.again(ctx)
}
