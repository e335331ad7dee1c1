package skypilot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/skypilot/api"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// portVariable is the variable with the port of this machine's server, which SkyPilot's commands also use.
const portVariable = "SKYPILOT_API_SERVER_LOCAL_PORT"

// baseOf returns the address of a block's API server.
func baseOf(name string, lookupEnv func(string) (string, bool)) string {
	if name != localAPI {
		return name
	}
	port, _ := lookupEnv(portVariable)
	return "http://127.0.0.1:" + cmp.Or(port, "46580")
}

// localServer is SkyPilot's API server on this machine: a running server, or a server that is started on
// first use and ended with the site. Clusters do not need it: a later call starts another one to query
// them. It is safe for concurrent use.
type localServer struct {
	site   *kind.Site
	base   string
	client *api.Client
	turn   chan struct{}  // has a value while a caller checks or starts the server
	began  *startedServer // nil if none was started
}

// startedServer is a server that was started: a command in a session of this machine, so that it is
// registered before it exists, and the next run ends it if this process is killed.
type startedServer struct {
	session  backend.Session
	stop     context.CancelFunc
	answered bool          // it has answered a request
	ended    chan struct{} // closed when it has ended
	exit     backend.Exit
	err      error
}

// localServerOf returns the server of a site, or nil if the address belongs to another server.
func localServerOf(s *kind.Site, name string) *localServer {
	if name != localAPI {
		return nil
	}
	type key struct{}
	made, _ := kind.Shared(s, key{}, func() (*localServer, error) {
		l := &localServer{site: s, base: baseOf(name, s.LookupEnv), client: clientOf(name, "", s.LookupEnv), turn: make(chan struct{}, 1)}
		s.OnClose(l.close)
		return l, nil
	})
	return made
}

// startPatience limits how long a server can take until it answers: seconds, or minutes on a busy machine.
const startPatience = 5 * time.Minute

// ensure waits until a server answers, and starts one if necessary.
func (l *localServer) ensure(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("SkyPilot's API server did not answer within %v", startPatience))
	defer cancel()
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if l.answers(ctx) {
		return nil
	}
	if l.site.UserState != "" { // concurrent starts disturb each other
		lock, err := lockedfile.Wait(ctx, filepath.Join(l.site.UserState, "skypilot.lock"))
		if err != nil {
			return fmt.Errorf("starting SkyPilot's API server: %w", err)
		}
		defer lock.Close()
	}
	for !l.answers(ctx) {
		if err := l.begin(ctx); err != nil {
			return fmt.Errorf("starting SkyPilot's API server: %w", err)
		}
		if err := retry.Sleep(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
	if l.began != nil {
		l.began.answered = true
	}
	return nil
}

func (l *localServer) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, err := l.client.Health(ctx)
	return err == nil
}

// begin starts a server unless one is running. If it failed before it ever answered, that is an error.
func (l *localServer) begin(ctx context.Context) error {
	if b := l.began; b != nil {
		select {
		case <-b.ended:
		default:
			return nil
		}
		if err := errors.Join(b.failure(), l.end()); err != nil {
			return err
		}
	}
	sky, err := exec.LookPath("sky")
	if err != nil {
		return &backend.ToolError{Tool: "sky", Err: errors.New("not found in PATH"), Hint: skyHint}
	}
	l.site.Notice(fmt.Sprintf("starting SkyPilot's API server, since %s does not answer", l.base))
	here := local.New(l.site.Store, local.Options{Lifecycle: local.Lifecycle{Scratch: l.site.Scratch, Registry: l.site.Registry, Grace: 5 * time.Second}, Confinement: local.Confinement{Isolation: "none"}})
	s, err := here.Open(ctx, backend.Spec{Name: "SkyPilot's API server"})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	b := &startedServer{session: s, stop: stop, ended: make(chan struct{})}
	l.began = b
	go func() {
		defer close(b.ended)
		b.exit, b.err = s.Exec(running, backend.Command{
			// Its output goes to a file, which outlives this process.
			Argv: []string{"sh", "-c", `umask 077; exec "$0" api start --foreground >` + serverLog + ` 2>&1`, sky},
			Env:  append(os.Environ(), "PYTHONUNBUFFERED=1"),
		})
	}()
	return nil
}

const (
	skyHint   = "install SkyPilot, for example by `uv tool install 'skypilot[slurm]'`, or set api to a server"
	serverLog = "server.log"
)

// failure returns why an ended server failed to start; nil if it found another server.
func (b *startedServer) failure() error {
	if b.answered || b.exit.Code == 0 && b.exit.Signal == "" {
		return b.err
	}
	said, _ := os.ReadFile(filepath.Join(b.session.Dir(), serverLog))
	lines := strings.Split(string(bytes.TrimSpace(said)), "\n")
	return fmt.Errorf("it ended with %s: %s", cmp.Or(b.exit.Signal, fmt.Sprint("exit code ", b.exit.Code)), strings.Join(lines[max(0, len(lines)-10):], "\n"))
}

// end ends the started server with all of its processes and files.
func (l *localServer) end() error {
	b := l.began
	if b == nil {
		return nil
	}
	b.stop()
	<-b.ended
	if err := b.session.Close(context.Background()); err != nil {
		return fmt.Errorf("ending SkyPilot's API server: %w", err)
	}
	l.began = nil
	return nil
}

func (l *localServer) close() error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	return l.end()
}
