package graph

import "github.com/fevalgraph/fevalgraph/cache"

// Last holds what earlier executions left of a node. The engine reads it to explain a
// decision, to expect how long work takes, and to find an answer without opening its record.
// It writes none: a caller that does not keep it loses nothing else, because
// the answer of a key is the record in the store.
type Last struct {
	Addr      string
	Answer              // the last stored answer; its Key is zero without one
	Store     string    // ID of the store that has it
	Broken    string    // first line of the error of the attempt that broke since; "" if none did
	BrokenKey cache.Key // of that attempt; zero if its inputs could not be described
}
