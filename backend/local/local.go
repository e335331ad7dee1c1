// Package local runs commands as processes of this machine: a session is a private directory below a scratch
// directory, a command is a process group in it, and nothing that a command starts outlives it. It is the
// runner of all backends: other machines, containers and actions have a local Backend, too.
//
// Each session has its own copy of the inputs. A workspace looks like this, all of it removed on Close:
//
//	<scratch>/<id>/work   the inputs; Session.Dir; where commands start
//	<scratch>/<id>/home   HOME of the commands, unless their Env sets it
//	<scratch>/<id>/tmp    TMPDIR of the commands, unless their Env sets it
//
// On Linux commands are isolated, as far as the machine allows it and the caller requests it: see
// Options.Isolation and package isolation. Prepare is not isolated, since it writes where all sessions read,
// before there is a submission. The network is the machine's.
//
// Commands with Ports get a private network where the machine allows it, which separates commands and does
// not confine them. Elsewhere a command waits for a lock on each port, and fails if another program uses it.
//
// Processes carry a mark, in their environment and as a resource limit that children inherit. So daemons
// that left their process group are found and ended, also by Reap after a crash. A limit of time does not
// count while the machine is suspended.
//
// In a container whose first process this program is, neither isolation nor the mark is used: commands run as
// another user, and everything in the container ends with the command.
//
// On other Unix systems only the command's own process group is ended. On Windows every use is an error.
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
	"github.com/fevalgraph/fevalgraph/cache"
)

// Kind is the kind of this backend's registry entries.
const Kind = "local"

const platform = runtime.GOOS + "/" + runtime.GOARCH

// defaultGrace is the time that a test runner gets to write its reports after SIGTERM. With it everything
// has ended within two seconds of a limit.
const defaultGrace = 1500 * time.Millisecond

// Options configure a Backend. The zero value works.
type Options struct {
	Probes
	Confinement
	Lifecycle
	// Network is the network of commands with ports. By default it is a private one where PrivateNetwork
	// succeeds, and the machine's elsewhere.
	Network backend.Network
}

// Probes configures the queries about programs of this machine that a Backend's identity rests on.
type Probes struct {
	// Python is the interpreter to request from uv: "3.12", "pypy@3.10";
	// empty is uv's choice.
	Python string
	// Versions are shell commands, run once each, whose output is part of the
	// identity: those of tools that tests use and no package manager pins.
	Versions []string
	// Digest returns the digest of a program whose state the caller just read; nil reads programs each time.
	Digest func(path string, state fs.FileInfo) (cache.Digest, error)
	// Path is the PATH in which uv is found, and the programs of commands
	// whose Env has no PATH.
	Path string
	// Env is the environment of the identity probes; Path is added to it when
	// it has no PATH. uv looks for interpreters there.
	Env []string
}

// Confinement configures what commands can read and change.
type Confinement struct {
	// Isolation is the required isolation.Level of sessions; "" means the highest that the machine allows.
	Isolation string
	// Isolator returns the file of a small program of the same build that takes over in isolated processes, or "";
	// nil and "" mean this program.
	Isolator func() string
	// Tried reports that the machine was found to allow Isolation: trying takes as long as a
	// short command does.
	Tried bool
	// Readable are files and directories that commands can read in addition to those of the system. ReadableNames
	// are the same as the configuration names them, for the identity; Unhashed are those whose content is in no
	// key.
	Readable, ReadableNames, Unhashed []string
	// Hidden are paths that no command can read, except for deeper paths that are named to it. They go through no
	// symbolic link. Home, the caller's home directory, is one of them.
	Hidden []string
	Home   string
}

// Lifecycle configures workspaces and the end of commands.
type Lifecycle struct {
	// Scratch is the directory below which workspaces are made; it is made
	// when absent. Empty is the system's directory for temporary files.
	Scratch string
	// Spares is the number of workspaces, left as they were made, that wait for the next sessions;
	// Backend.Close removes them. Making and removing directories takes longer than a short command does.
	Spares int
	// Registry lists sessions before they exist; nil lists none.
	Registry *backend.Registry
	// Session names every session's directory below Scratch, instead of a random name: there
	// can be one at a time then. It has the form of workspace.NewID.
	Session string
	// Grace is the time between SIGTERM and SIGKILL for a command that reached its timeout or was cancelled;
	// 0 means one and a half seconds.
	Grace time.Duration
}

// Backend implements backend.Backend.
type Backend struct {
	store   cache.Store
	opt     Options
	network func() backend.Network
	scratch scratch
	spares  spares

	probe  sync.Mutex // one probe at a time; guards python
	python interpreter

	installed sync.Map // path of a program to its installed

	level    func() (isolation.Level, error) // see Isolation
	isolator *isolation.Program              // set by level; see Options

	inside *inside // nil unless the process is the first of a container
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
	b := &Backend{store: store, opt: o, scratch: scratch{dir: o.Scratch}}
	b.level = sync.OnceValues(b.findLevel)
	b.network = sync.OnceValue(func() backend.Network {
		switch {
		case o.Network != "":
			return o.Network
		case b.isolated() == isolation.Full, PrivateNetwork() == nil:
			return backend.PrivateNetwork
		}
		return backend.SharedNetwork
	})
	return b
}

// Network implements backend.Backend.
func (b *Backend) Network() backend.Network { return b.network() }

// Capabilities implements backend.Backend.
func (b *Backend) Capabilities() backend.Capabilities {
	return backend.Capabilities{Python: b, BareIdentity: b.bareIdentity, Programs: b.programs, Shown: b.shown, GPU: b.gpu, Attach: true, Places: b.places, Isolation: func() string { return string(b.isolated()) }}
}

// Prepare implements backend.Backend. Sessions share the machine's files, so it makes no snapshot.
func (b *Backend) Prepare(ctx context.Context, _ string, cmd backend.Command) (snapshot string, exit backend.Exit, err error) {
	exit, err = backend.PrepareShared(ctx, unisolated{b}, cmd)
	return "", exit, err
}

// Identity names the platform, the interpreter and the versions asked for, for
// example platform=linux/amd64 and python="CPython 3.11.7". Nothing in it is a
// path.
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

// bareIdentity returns the identity without the interpreter, and needs no uv.
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
	}
	return append(identity, inheritedLimits()...), nil
}
