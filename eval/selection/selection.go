package selection

// Selection selects nodes of the graph. Its texts are selectors: globs over addresses, or AXIS=GLOB. The
// zero value selects everything.
type Selection struct {
	Targets []string `json:"targets,omitempty"` // nodes that any of these picks; empty means all
	Only    []string `json:"only,omitempty"`    // keep what any of these picks
	Not     []string `json:"not,omitempty"`     // leave out what any of these picks, and what needs it
	Pairs   string   `json:"pairs,omitempty"`   // only the solutions in a file of pairs; "" means all
}
