// Package workerhost runs a worker on this machine: the local backend, a go-judge sandbox, and a store on
// disk behind a server of package worker.
package workerhost

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/gojudge"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/internal/certificates"
	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
)

// Options configures a worker.
type Options struct {
	// Dir is the worker's directory, which no other worker uses: it contains its store, its environments, and
	// its AddressFile.
	Dir string
	// Listen is the address to listen at: "10.0.0.5:0", where 0 is any free port.
	Listen string
	// Idle limits how long the worker waits for a client before it ends; 0 means ten minutes.
	Idle time.Duration
	// Python, Versions and Isolation are settings of the local backend.
	Python    string
	Versions  []string
	Isolation string
	// GoJudge is the program of go-judge; "" means no sandbox. GoJudgeVersions are commands that run in the
	// sandbox for its identity.
	GoJudge         string
	GoJudgeVersions []string
	// LookupEnv reads the environment, which determines where programs are found.
	LookupEnv func(string) (string, bool)
}

// Flags defines the flags of a worker's command.
func (o *Options) Flags(f *flag.FlagSet) {
	f.StringVar(&o.Dir, "dir", "", "separate `DIR` of this worker: store, environments, worker.json")
	f.StringVar(&o.Listen, "listen", "127.0.0.1:0", "`ADDRESS` to listen at; port 0 chooses a free one")
	f.DurationVar(&o.Idle, "idle", 10*time.Minute, "exit if no run is connected for this `TIME`")
	f.StringVar(&o.Python, "python", "", "Python `VERSION` to request from uv")
	f.StringVar(&o.Isolation, "isolation", "", "`LEVEL` of isolation: full, partial or none (default: the most that the machine allows)")
	f.StringVar(&o.GoJudge, "go-judge", "", "go-judge's `PROGRAM`, for judge problems")
	f.Func("versions", "shell `COMMAND` whose output enters keys (repeatable)", adder(&o.Versions))
	f.Func("go-judge-versions", "shell `COMMAND` whose output in go-judge enters keys (repeatable)", adder(&o.GoJudgeVersions))
}

func adder(list *[]string) func(string) error {
	return func(value string) error {
		*list = append(*list, value)
		return nil
	}
}

// AddressFile is the name, in the worker's directory, of the file with its Address. It exists while the
// worker is reachable.
const AddressFile = "worker.json"

// Address contains the data for reaching a worker. Only its owner can read the file, since it permits
// running commands.
type Address struct {
	worker.Access
	Address  string `json:"address"` // host:port
	Protocol int    `json:"protocol"`
	Process  int    `json:"process"`
}

// AlreadyError reports that a worker is already running in a directory.
type AlreadyError struct{ Dir string }

func (e *AlreadyError) Error() string { return e.Dir + " is in use by a running worker" }

// Run runs a worker until it has been idle for Options.Idle or ctx ends. ready is called when the worker
// is reachable.
func Run(ctx context.Context, o Options, ready func(Address)) (err error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return err
	}
	for _, name := range []string{"", "spool", "environments"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
	}
	lock, err := lockedfile.Try(filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	if lock == nil {
		return &AlreadyError{dir}
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	store, err := cache.OpenDisk(filepath.Join(dir, "store"), cache.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	sessions := filepath.Join(dir, "sessions")
	reapers := map[string]func(context.Context, backend.Entry) error{local.Kind: local.Reap, gojudge.Kind: gojudge.Reap}
	if _, err := backend.Reap(ctx, sessions, reapers); err != nil { // of a worker that crashed
		return err
	}
	registry, err := backend.OpenRegistry(sessions, "worker")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, registry.Close()) }()
	collected := make(chan struct{})
	collecting, stop := context.WithCancel(ctx)
	go func() {
		defer close(collected)
		collect(collecting, store)
	}()
	defer func() { stop(); <-collected }()
	host, end := o.host(store, registry, dir)
	defer func() { err = errors.Join(err, end()) }()
	return o.serve(ctx, host, dir, ready)
}

// unusedAge limits how long a worker's store keeps unused blobs. Runs send missing blobs again.
const unusedAge = 7 * 24 * time.Hour

// collect removes unused blobs from a worker's store: immediately, since a worker can be started for each
// run, and then daily. Failures are retried next time.
func collect(ctx context.Context, store *cache.Disk) {
	for {
		_, _ = store.GC(ctx, cache.GCOptions{MaxBytes: -1, MaxAge: unusedAge})
		select {
		case <-time.After(24 * time.Hour):
		case <-ctx.Done():
			return
		}
	}
}

// host returns the machine for the server.
func (o *Options) host(store cache.Store, registry *backend.Registry, dir string) (h worker.Host, end func() error) {
	path, _ := o.LookupEnv("PATH")
	home, _ := o.LookupEnv("HOME")
	tools := append(local.Tools(o.LookupEnv), certificates.System(o.LookupEnv)...)
	// Workspaces are not below dir, which can be on a network file system and has a long name: paths of
	// sockets in a workspace must be short.
	scratch := filepath.Join(os.TempDir(), fmt.Sprintf("fevalgraph-%d", os.Getuid()))
	made := local.New(store, local.Options{
		Probes:      local.Probes{Python: o.Python, Versions: o.Versions, Path: path, Env: append(tools, "HOME="+home)},
		Lifecycle:   local.Lifecycle{Scratch: scratch, Registry: registry},
		Confinement: local.Confinement{Isolation: o.Isolation, Home: home, Hidden: []string{dir}},
	})
	h = worker.Host{Store: store, Backend: made, Environments: filepath.Join(dir, "environments"), Tools: tools, Spool: filepath.Join(dir, "spool")}
	end = func() error { return nil }
	if o.GoJudge != "" {
		server := gojudge.Start(store, gojudge.Process{Binary: o.GoJudge, Path: path, Scratch: scratch, Registry: registry})
		h.Sandbox = gojudge.New(server, gojudge.Options{Versions: o.GoJudgeVersions, Facts: filepath.Join(dir, "sandboxes")})
		end = server.Close
	}
	return h, end
}

func (o *Options) serve(ctx context.Context, host worker.Host, dir string, ready func(Address)) error {
	access, certificate, err := worker.NewAccess()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", cmp.Or(o.Listen, "127.0.0.1:0"))
	if err != nil {
		return err
	}
	address := Address{Access: access, Address: listener.Addr().String(), Protocol: worker.Protocol, Process: os.Getpid()}
	text, err := json.Marshal(address)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	file := filepath.Join(dir, AddressFile)
	if err := atomicfile.Write(file, 0o600, text); err != nil {
		return errors.Join(fmt.Errorf("writing the address of the worker: %w", err), listener.Close())
	}
	ready(address)
	err = worker.NewServer(host, worker.ServerOptions{Token: access.Token, Abandon: o.Idle}).Serve(ctx, listener, certificate)
	return errors.Join(err, os.Remove(file))
}
