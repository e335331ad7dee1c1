package backend

// Network is the kind of network on which commands with Ports listen. Programs can distinguish the kinds,
// so it must enter the keys of nodes with ports.
type Network string

const (
	// PrivateNetwork is a private loopback with all ports free. If a backend has only private networks, all of
	// its commands have the same access beyond the loopback; if it has both kinds, a private network has no
	// other access.
	PrivateNetwork Network = "private"
	// SharedNetwork is the machine's network, where commands that declare the same port wait for each other.
	// If another program has the port, they break.
	SharedNetwork Network = "shared"
)
