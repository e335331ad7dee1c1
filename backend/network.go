package backend

// Network is what commands with Ports listen on. Programs can tell one kind
// from the other, so it belongs into the keys of whatever has ports.
type Network string

const (
	// PrivateNetwork is a loopback of the command's own, with every port free.
	// What else can be reached is the same for all commands of a backend that
	// has private networks only, and nothing on one that has both kinds.
	PrivateNetwork Network = "private"
	// SharedNetwork is the machine's, where commands with a port in common
	// wait for one another. A port that a stranger has makes them break.
	SharedNetwork Network = "shared"
)
