package eval

import "context"

// Compare does one round of Wait, without waiting: the path that is different by now, "" for none, and
// whether the call is made again for it.
func (w *Watch) Compare(ctx context.Context) (path string, again bool) {
	path = w.seen.Difference()
	return path, path != "" && w.again(ctx)
}
