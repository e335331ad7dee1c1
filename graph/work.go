package graph

import (
	"io"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Work is the input of a running task.
type Work struct {
	Addr     string
	Attempt  int // from 1
	Store    cache.Store
	Log      io.Writer // shown by `fevalgraph log` when the attempt breaks
	Forced   bool      // Options.Force requires the work, regardless of answers
	Isolated bool      // repeats an attempt that lacked resources, without concurrent attempts
	inputs   []input
	index    map[string]int // inputs by name
	notes    []string
}

func newWork(addr string, attempt int, store cache.Store, inputs []input) *Work {
	w := &Work{Addr: addr, Attempt: attempt, Store: store, Log: io.Discard, inputs: inputs, index: make(map[string]int, len(inputs))}
	for i := range inputs {
		w.index[inputs[i].dep.As] = i
	}
	return w
}

// Note adds a message to the run that is not part of the outcome. It is emitted when the attempt has
// ended.
func (w *Work) Note(text string) { w.notes = append(w.notes, text) }

// Input returns the digest of a consumed output; false if the dependency lacks it.
func (w *Work) Input(as, output string) (cache.Digest, bool) {
	if i, ok := w.index[as]; ok {
		o, ok := w.inputs[i].output(output)
		return o.Digest, ok
	}
	return cache.Digest{}, false
}

// consumedOutputs returns all outputs that Input can return.
func (w *Work) consumedOutputs() []cache.Output {
	var all []cache.Output
	for i := range w.inputs {
		for _, name := range w.inputs[i].dep.Outputs {
			if o, ok := w.inputs[i].output(name); ok {
				all = append(all, o)
			}
		}
	}
	return all
}
