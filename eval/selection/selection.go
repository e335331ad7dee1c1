package selection

// Selection says which nodes of the graph are wanted. Its texts are selectors:
// globs over addresses, or AXIS=GLOB. The zero value is everything.
type Selection struct {
	Targets []string `json:"targets,omitempty"` // nodes that any of these picks; none is all
	Only    []string `json:"only,omitempty"`    // keep what any of these picks
	Not     []string `json:"not,omitempty"`     // leave out what any of these picks, and what needs it
	Pairs   string   `json:"pairs,omitempty"`   // only the solutions in a file of pairs; "" means all
}
