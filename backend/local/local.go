// Package local runs commands as processes of this machine: a session is a private directory below a
// scratch directory, a command is a process group in it, and nothing that a command starts outlives it. It
// is the runner of all backends: on other machines, in containers and in actions, too, a local Backend
// runs the commands.
//
// Each session has its own copy of the inputs. A workspace looks like this, all of it removed on Close:
//
//	<scratch>/<id>/work   the inputs; Session.Dir; where commands start
//	<scratch>/<id>/home   HOME of the commands, unless their Env sets it
//	<scratch>/<id>/tmp    TMPDIR of the commands, unless their Env sets it
//
// On Linux, commands are isolated as far as the caller requests and the machine allows: see
// Options.Isolation and package isolation. Prepare is not isolated, since it writes to directories that
// all sessions read; no submission exists yet then. Commands use the machine's network.
//
// Commands with Ports get a private network where the machine allows it, which separates commands but does
// not confine them. Otherwise a command waits for a lock on each port, and fails if another program uses
// the port.
//
// Processes carry a mark, in their environment and as a resource limit that children inherit. So daemons
// that left their process group are found and ended, even by Reap after a crash. Time while the machine is
// suspended does not count towards a timeout.
//
// If this program is the first process of a container, it uses neither isolation nor the mark: commands
// run as another user, and everything in the container ends with the command.
//
// On other Unix systems, only the command's own process group is ended. On Windows, every call returns an
// error.
package local

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/backend/workspace"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Kind is the kind of this backend's registry entries.
const Kind = "local"

const platform = runtime.GOOS + "/" + runtime.GOARCH

// defaultGrace is the time that a test runner has to write its reports after SIGTERM. It is short enough
// that all processes end within two seconds of a limit.
const defaultGrace = 1500 * time.Millisecond

// Options configures a Backend. The zero value is valid.
type Options struct {
	Probes
	Confinement
	Lifecycle
	// Network is the network of commands with ports. The default is a private network if PrivateNetwork
	// succeeds, and otherwise the machine's.
	Network backend.Network
}

// Probes configures the queries about programs of this machine for a Backend's identity.
type Probes struct {
	// Python is the interpreter to request from uv: "3.12", "pypy@3.10"; "" means uv's choice.
	Python string
	// Versions are shell commands whose output is part of the identity, each run once: the versions of tools
	// that tests use and that no package manager pins.
	Versions []string
	// Digest returns the digest of a program whose state the caller just read; nil means that programs are
	// read each time.
	Digest func(path string, state fs.FileInfo) (cache.Digest, error)
	// Path is the PATH for uv, and for commands whose Env has no PATH.
	Path string
	// Env is the environment of the identity probes. uv looks for interpreters there. Path is added unless it
	// has a PATH.
	Env []string
}

// Confinement configures what commands can read and change.
type Confinement struct {
	// Isolation is the required isolation.Level of sessions; "" means the highest that the machine allows.
	Isolation string
	// Isolator returns the file of a small program of the same build that sets up isolated processes; nil or
	// "" means this program.
	Isolator func() string
	// Tried reports that the machine is already known to allow Isolation: a test takes as long as a short
	// command.
	Tried bool
	// Readable are files and directories that commands can read in addition to those of the system.
	// ReadableNames are their names in the configuration, for the identity; Unhashed are those whose content
	// is in no key.
	Readable, ReadableNames, Unhashed []string
	// Hidden are paths without symbolic links that no command can read, except deeper paths that its arguments
	// or environment name. Home, the caller's home directory, is also hidden.
	Hidden []string
	Home   string
}

// Lifecycle configures workspaces and the end of commands.
type Lifecycle struct {
	// Scratch is the directory below which workspaces are created; it is created if missing. "" means the
	// system's directory for temporary files.
	Scratch string
	// Registry lists sessions before they exist; nil means none are listed.
	Registry *backend.Registry
	// Session is the name of every session's directory below Scratch, instead of a random one, so there can be
	// only one session at a time. It has the form of workspace.NewID.
	Session string
	// Grace is the time between SIGTERM and SIGKILL for a command that reached its timeout or was cancelled; 0
	// means 1.5 seconds.
	Grace time.Duration
}

// Backend implements backend.Backend.
type Backend struct {
	store   cache.Store
	opt     Options
	network func() backend.Network
	scratch workspace.ScratchDir

	probe  sync.Mutex // serializes probes; guards python
	python interpreter

	prepared preparedDirs

	installed sync.Map // path of a program to its installed

	level    func() (isolation.Level, error) // see Isolation
	isolator *isolation.Program              // set by level; see Options

	inside *inside // nil unless this is the first process of a container
}

var _ backend.Backend = (*Backend)(nil)

// New returns a backend whose inputs come from store.
func New(store cache.Store, o Options) *Backend {
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.Digest == nil {
		o.Digest = readDigest
	}
	b := &Backend{store: store, opt: o, scratch: workspace.ScratchDir{Dir: o.Scratch}}
	b.level = sync.OnceValues(b.findLevel)
	b.network = sync.OnceValue(func() backend.Network {
		switch {
		case o.Network != "":
			return o.Network
		case b.isolationLevel() == isolation.Full, PrivateNetwork() == nil:
			return backend.PrivateNetwork
		}
		return backend.SharedNetwork
	})
	return b
}

// Scratch returns the directory of workspaces, or why they would not work there.
func (b *Backend) Scratch() (string, error) { return b.scratch.FindSuitable() }

// Network implements backend.Backend.
func (b *Backend) Network() backend.Network { return b.network() }

// Capabilities implements backend.Backend.
func (b *Backend) Capabilities() backend.Capabilities {
	return backend.Capabilities{Python: b, BareIdentity: b.bareIdentity, Programs: b.programs, Shown: b.shownFiles, GPU: b.gpu, Attach: true, Places: b.checkPlaces, Isolation: func() string { return string(b.isolationLevel()) }}
}

// Prepare implements backend.Backend. Sessions share the machine's files, so it makes no snapshot.
func (b *Backend) Prepare(ctx context.Context, _ string, cmd backend.Command) (snapshot string, exit backend.Exit, err error) {
	if cmd.Prepares != "" {
		exit, err = b.prepareDir(ctx, cmd)
	} else {
		exit, err = backend.PrepareShared(ctx, unisolatedBackend{b}, cmd)
	}
	return "", exit, err
}

// Identity contains the platform, the interpreter and the requested versions, such as platform=linux/amd64
// and python="CPython 3.11.7". It contains no paths.
func (b *Backend) Identity(ctx context.Context) (backend.Identity, error) {
	_, version, err := b.Interpreter(ctx)
	if err != nil {
		return nil, err
	}
	bare, err := b.bareIdentity(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Insert(bare, 1, backend.Field{Label: "python", Value: version}), nil
}

// bareIdentity returns the identity without the interpreter. It does not need uv.
func (b *Backend) bareIdentity(ctx context.Context) (backend.Identity, error) {
	identity := backend.Identity{{Label: "platform", Value: platform}}
	for i, command := range b.opt.Versions {
		if slices.Contains(b.opt.Versions[:i], command) {
			continue
		}
		said, err := b.version(ctx, command)
		if err != nil {
			return nil, fmt.Errorf("asking %q: %w", command, err)
		}
		identity = append(identity, backend.Field{Label: "output of " + command, Value: said})
	}
	level, err := b.requireIsolation()
	if err != nil {
		return nil, err
	}
	if level != isolation.None {
		identity = append(identity, backend.Field{Label: "isolation", Value: string(level)})
		for _, name := range b.opt.ReadableNames {
			identity = append(identity, backend.Field{Label: "readable " + name, Value: "yes"})
		}
	} else if dir, err := b.scratch.Find(); err == nil && ignoresSetuid(dir) {
		identity = append(identity, backend.Field{Label: "set-user-id bits in workspaces", Value: "ignored"})
	}
	return append(identity, backend.FindLowLimits().Identity()...), nil
}
