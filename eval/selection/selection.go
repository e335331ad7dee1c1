package selection

// Selection selects nodes of the graph. Its texts are selectors: globs over addresses, or AXIS=GLOB. The
// zero value selects everything.
type Selection struct {
	Targets []string `json:"targets,omitempty"` // nodes that match any of these; empty means all
	Only    []string `json:"only,omitempty"`    // keep only nodes that match any of these
	Not     []string `json:"not,omitempty"`     // omit nodes that match any of these, and nodes that need them
	Pairs   string   `json:"pairs,omitempty"`   // keep only the solutions in a file of pairs; "" means all
}
