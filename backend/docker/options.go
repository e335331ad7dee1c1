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

// The labels of everything that is made.
const (
	LabelProject = "fevalgraph"         // Options.Project
	LabelRun     = "fevalgraph.run"     // Options.Run
	LabelSession = "fevalgraph.session" // id of the session
	LabelNode    = "fevalgraph.node"    // Spec.Name
	LabelWorkdir = "fevalgraph.workdir" // of the session in the container
	LabelUser    = "fevalgraph.user"    // of commands
)

// Pull says when an image is fetched from its registry.
type Pull string

const (
	PullMissing Pull = "missing" // when the daemon has none of that name; the default
	PullAlways  Pull = "always"  // once per Backend, regardless of the daemon's images
	PullNever   Pull = "never"
)

// Options configure a Backend. Only one of Image and Build is required.
type Options struct {
	Origin
	Privileges
	Reach
	Limits
	Probes
	Lifecycle

	// Workdir is the absolute path of the workspace in the container; empty is
	// DefaultWorkdir.
	Workdir string
	Mounts  []Mount
	// Program is the file of the runner, the first process of containers: a static program for
	// Linux that knows backend.ContainerCommand.
	Program string
	// Copy has files copied in and out also where a mount would do.
	Copy bool
}

// Origin selects the image of containers.
type Origin struct {
	// Image is a reference, "python:3.12-slim", or an image ID.
	Image string
	// Build reports that Build, or Find, comes first and says what the image is.
	Build *Build
	// Platform is "linux/arm64" or the like; empty is the daemon's own.
	Platform string
	Pull     Pull
}

// Privileges configures the user of commands, and what it can do.
type Privileges struct {
	// User is "name", "uid" or either with ":group". Empty is the image's,
	// unless that is root: then it is DefaultUser.
	User string
	// ImageUser takes the image's user when User is empty, also when that is root.
	ImageUser bool
	// Capabilities leaves commands what containers have by default, instead of nothing:
	// root can give files away and become another user.
	Capabilities bool
}

// Reach configures what commands reach over the network.
type Reach struct {
	// Network is "none", "bridge", which no other container is on, or the name of a network that the daemon
	// has; "" means "none". With "none", commands that are Online get "bridge".
	Network string
	// Services run next to the container of a session, from its first command on, under the same limits. They and
	// the container are alone on a network, which reaches nothing else if Network is "none".
	Services []lang.Service
	// Hosts are reached by a proxy, which is then the only way out of that network: names, "*." and a name, addresses
	// and ranges. Network must be "none".
	Hosts []string
}

// Limits bound what a container uses.
type Limits struct {
	CPUs   float64 // 0 means no limit
	Memory int64   // bytes, swap included; 0 means no limit
	// Pids limits the processes and threads at a time; 0 means DefaultPids, a negative number no limit.
	Pids int64
	// GPUs is "all", a number, or "device=" and a list of ids or indices; "" means no GPU.
	GPUs string
}

// Probes configures the queries about images that a Backend's identity rests on.
type Probes struct {
	// Python is the interpreter that uv must find in the container: "3.12". "" leaves the choice to uv, or
	// means python3 where uv is missing.
	Python string
	// Env is the environment of the probe that looks for it.
	Env []string
	// Facts is a directory that keeps the answers of images, sealed at Place; "" keeps none.
	Facts string
	Place proof.Place
	// FactsReadOnly adds no answers to Facts.
	FactsReadOnly bool
}

// Lifecycle configures sessions and the end of commands.
type Lifecycle struct {
	// Project and Run become labels.
	Project, Run string
	// Registry lists sessions before they exist; nil lists none.
	Registry *backend.Registry
	// Scratch is the directory of this machine below which workspaces are
	// made; it is made when absent. Empty is the system's for temporary files.
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
	// Source is an absolute path on the daemon's machine, which must exist, or
	// the name of a volume, which is made when absent.
	Source   string
	Target   string // absolute path in the container
	ReadOnly bool
}

// withDefaults fills in what was left open.
func (o Options) withDefaults() Options {
	o.Workdir, o.Network = cmp.Or(o.Workdir, DefaultWorkdir), cmp.Or(o.Network, DefaultNetwork)
	o.Pull, o.Pids, o.Grace = cmp.Or(o.Pull, PullMissing), cmp.Or(o.Pids, DefaultPids), cmp.Or(o.Grace, DefaultGrace)
	return o
}

// accompanied reports whether sessions have a network with other containers.
func (o Options) accompanied() bool { return len(o.Services)+len(o.Hosts) > 0 }

// network returns the network of a command.
func (o Options) network(online bool) string {
	if o.Network == noNetwork && online {
		return bridgeNetwork
	}
	return o.Network
}
