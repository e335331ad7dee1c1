package backend

import "time"

// ContainerCommand is the subcommand that starts a fevalgraph program as the first process of a container.
// The next argument is a Container in JSON, or ContainerFacts.
const ContainerCommand = "container"

// ContainerFacts makes the program print ContainerFact in JSON.
const ContainerFacts = "facts"

// ContainerFact describes the processes of a container.
type ContainerFact struct {
	UID, GID int
	Limits   LowLimits
}

// LimitsChanged explains a *ToolError about a Container with other Limits.
const LimitsChanged = "the container engine was configured differently before: run again"

// Container describes how the first process of a container runs the commands of its one session.
type Container struct {
	// User is the user of commands: a name or number, optionally followed by a colon and a group.
	User string
	// Work, Home and Temp are the parts of the workspace.
	Work, Home, Temp string
	// Blobs is a directory for content that is being transferred to the workspace.
	Blobs string
	// Capabilities lets commands keep the capabilities of the container; otherwise they have none.
	Capabilities bool
	// Grace is the time between SIGTERM and SIGKILL.
	Grace time.Duration
	// Limits are the expected LowLimits; others are an error. nil means any.
	Limits LowLimits
	// Copied reports that the workspace is on the container's own file system. Otherwise its parts are mounts,
	// and the caller implements the Places and ReadOnly of a Spec.
	Copied bool
	// Egress lists hosts. If it is not nil, the process runs no commands and is a proxy to these hosts, at
	// EgressPort.
	Egress []string
}

// EgressPort is the port on which a Container with Egress listens.
const EgressPort = 3128
