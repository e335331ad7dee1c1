package backend

import "time"

// ContainerCommand is the word by which a program of fevalgraph is started as the first process of
// a container. The next word is a Container in JSON, or ContainerUser.
const ContainerCommand = "container"

// ContainerUser has the program print the numbers of its user and group.
const ContainerUser = "user"

// Container describes how the first process of a container runs the commands of its one session.
type Container struct {
	// User is the user of commands: a name or number, perhaps with a group after a colon.
	User string
	// Work, Home and Temp are the parts of the workspace.
	Work, Home, Temp string
	// Blobs is a directory for what is on its way there.
	Blobs string
	// Capabilities leaves commands the capabilities of the container. Without it they have none.
	Capabilities bool
	// Grace is the time between SIGTERM and SIGKILL.
	Grace time.Duration
	// Copied reports that the workspace is the container's own. Otherwise the parts are mounts,
	// and the caller sees to the Places and ReadOnly of a Spec.
	Copied bool
	// Egress are hosts to which it serves as a proxy, at EgressPort, instead of running commands; nil means none.
	Egress []string
}

// EgressPort is the port on which a Container with Egress listens.
const EgressPort = 3128
