package backend

// Network tells where commands with Ports listen. Programs can tell the values apart, so it belongs into the
// keys of nodes with ports.
type Network string

const (
	// PrivateNetwork is a private loopback with every port free. The rest of the network is the same for all
	// commands of a backend that has private networks only, and absent on a backend that has both kinds.
	PrivateNetwork Network = "private"
	// SharedNetwork is the machine's, where commands with a port in common
	// wait for one another. A port that a stranger has makes them break.
	SharedNetwork Network = "shared"
)
