package docker

import (
	"cmp"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/lang"
)

// Kind is the kind of this backend's registry entries.
const Kind = "docker"

// Labels of all created objects.
const (
	LabelProject = "fevalgraph"         // Options.Project
	LabelRun     = "fevalgraph.run"     // Options.Run
	LabelSession = "fevalgraph.session" // id of the session
	LabelNode    = "fevalgraph.node"    // Spec.Name
	LabelWorkdir = "fevalgraph.workdir" // of the session in the container
	LabelUser    = "fevalgraph.user"    // of commands
)

// Pull specifies when an image is pulled from its registry.
type Pull string

const (
	PullMissing Pull = "missing" // if the daemon lacks an image of that name; the default
	PullAlways  Pull = "always"  // once per Backend, regardless of the daemon's images
	PullNever   Pull = "never"
)

// Options configures a Backend. Exactly one of Image and Build is required.
type Options struct {
	Origin
	Privileges
	Reach
	Limits
	Probes
	Lifecycle

	// Workdir is the absolute path of the workspace in the container; "" means DefaultWorkdir.
	Workdir string
	Mounts  []Mount
	// Program is the file of the runner, the first process of containers: a static program for Linux that
	// implements backend.ContainerCommand.
	Program string
	// Copy copies files in and out even if a mount would work.
	Copy bool
}

// Origin selects the image of containers.
type Origin struct {
	// Image is a reference, "python:3.12-slim", or an image ID.
	Image string
	// Build reports that Build or Find must be called first and determines the image.
	Build *Build
	// Platform is "linux/arm64" or the like; "" means the daemon's platform.
	Platform string
	Pull     Pull
}

// Privileges configures the user of commands and its permissions.
type Privileges struct {
	// User is "name", "uid" or either with ":group". "" means the image's user or, if that is root,
	// DefaultUser.
	User string
	// ImageUser uses the image's user if User is "", even if that is root.
	ImageUser bool
	// Capabilities lets commands keep the default capabilities of containers instead of none, so that root can
	// change owners of files and switch users.
	Capabilities bool
}

// Reach configures the network access of commands.
type Reach struct {
	// Network is "none", "bridge" for a bridge without other containers, or the name of a network of the
	// daemon; "" means "none". With "none", commands that are Online get "bridge".
	Network string
	// Services run next to the container of a session, from its first command on, under the same limits. They
	// share a network with only the container, which has no access to others if Network is "none".
	Services []lang.Service
	// Hosts lists the hosts that commands can reach through a proxy, the only access from that network to
	// others: names, "*." and a name, addresses and ranges. Network must be "none".
	Hosts []string
}

// Limits contains the resource limits of a container.
type Limits struct {
	CPUs   float64 // 0 means no limit
	Memory int64   // bytes, swap included; 0 means no limit
	// Pids limits the processes and threads at a time; 0 means DefaultPids, and a negative number means no
	// limit.
	Pids int64
	// GPUs is "all", a number, or "device=" and a list of ids or indices; "" means no GPU.
	GPUs string
}

// Probes configures the queries about images for a Backend's identity.
type Probes struct {
	// Python is the interpreter that uv must find in the container: "3.12". "" leaves the choice to uv, or
	// means python3 where uv is missing.
	Python string
	// Env is the environment of the probe for the interpreter.
	Env []string
	// Facts is a directory that stores the answers of an image's containers, sealed at Place; "" stores none.
	Facts string
	Place proof.Place
	// FactsReadOnly adds no answers to Facts.
	FactsReadOnly bool
}

// Lifecycle configures sessions and the end of commands.
type Lifecycle struct {
	// Project and Run become labels.
	Project, Run string
	// Registry lists sessions before they exist; nil means none are listed.
	Registry *backend.Registry
	// Scratch is the directory of this machine below which workspaces are created; it is created if missing.
	// "" means the system's directory for temporary files.
	Scratch string
	// Grace is the time between SIGTERM and SIGKILL for a command that reached its timeout or was cancelled;
	// 0 means DefaultGrace.
	Grace time.Duration
}

// Defaults of Options.
const (
	DefaultUser    = "1000:1000"
	DefaultWorkdir = "/workspace"
	DefaultNetwork = noNetwork
	DefaultPids    = 4096
	DefaultGrace   = 1500 * time.Millisecond
)

// Mount is a directory or file from outside the container, or a volume.
type Mount struct {
	// Source is an absolute path on the daemon's machine, which must exist, or the name of a volume, which is
	// created if missing.
	Source   string
	Target   string // absolute path in the container
	ReadOnly bool
}

// withDefaults sets defaults for empty options.
func (o Options) withDefaults() Options {
	o.Workdir, o.Network = cmp.Or(o.Workdir, DefaultWorkdir), cmp.Or(o.Network, DefaultNetwork)
	o.Pull, o.Pids, o.Grace = cmp.Or(o.Pull, PullMissing), cmp.Or(o.Pids, DefaultPids), cmp.Or(o.Grace, DefaultGrace)
	return o
}

// hasCompanions reports whether sessions have a network with other containers.
func (o Options) hasCompanions() bool { return len(o.Services)+len(o.Hosts) > 0 }

// network returns the network of a command.
func (o Options) network(online bool) string {
	if o.Network == noNetwork && online {
		return bridgeNetwork
	}
	return o.Network
}
