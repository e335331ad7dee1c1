package remote_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"

	"github.com/fevalgraph/fevalgraph/backend/remote/remotehost"
	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/cache/remote/remotetest"
	"github.com/fevalgraph/fevalgraph/internal/testkit/coverdir"
)

// machine is an engine in this process whose actions run on this machine.
type machine struct {
	*site
	server *remotetest.Server
	engine remotetest.Engine // of good workers

	mu   sync.Mutex
	lose context.CancelFunc // of the worker
	gone context.Context    // ends with it

	actions sync.WaitGroup // that are executed
}

// inside runs actions in this process.
func inside(ctx context.Context, dir string, _ *execution.Command) (exit int, stderr []byte, err error) {
	if err := remotehost.Run(ctx, dir); err != nil {
		return 1, []byte(err.Error()), nil
	}
	return 0, nil, nil
}

// start starts an engine whose actions run in this process.
func start(t *testing.T) *machine {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	writeFile(t, program, "runs in the test's process")
	return startWith(t, inside, program)
}

// startProcesses starts an engine whose actions are real processes. Programs that actions place and start need it:
// while this process forks, the child holds files open that are being written, which cannot be executed.
func startProcesses(t *testing.T) *machine {
	t.Helper()
	return startWith(t, remotetest.Process(coverdir.Env()...), itself(t))
}

// startWith starts an engine that ends with the test, when no action can have left anything.
func startWith(t *testing.T, run remotetest.Program, program string) *machine {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("actions run on Linux")
	}
	t.Parallel()
	scratch, err := os.MkdirTemp("", "w") // short, to leave room for the names of sockets
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{}
	t.Cleanup(func() {
		m.actions.Wait()
		for _, pattern := range []string{"action-*", "fevalgraph-*/sessions/*", "fevalgraph-*/*/" + wire.Work} {
			if left, err := filepath.Glob(filepath.Join(scratch, pattern)); err != nil || len(left) > 0 {
				t.Errorf("left on the worker's machine: %v, %v", left, err)
			}
		}
		os.RemoveAll(scratch)
	})
	m.server = remotetest.Start(t)
	m.gone, m.lose = context.WithCancel(context.Background())
	m.engine = m.server.Worker(scratch, run)
	m.server.Execute(m.execute)
	m.site = &site{
		address: m.server.GRPC, state: m.server.GRPC, scratch: scratch, program: program, files: 200,
		evict: func(*testing.T) { m.server.Evict() },
		lose:  func(*testing.T) { m.restart() },
	}
	return m
}

// restart ends the worker and its actions, and starts another.
func (m *machine) restart() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lose()
	m.gone, m.lose = context.WithCancel(context.Background())
}

// execute returns an engine without workers of the pool none.
func (m *machine) execute(ctx context.Context, action *execution.Action, command *execution.Command) remotetest.Outcome {
	m.actions.Add(1)
	defer m.actions.Done()
	for _, p := range action.Platform.Properties {
		if p.Name == "pool" && p.Value == "none" {
			return ended(codes.Unavailable, "No workers exist for instance name prefix \"\" platform {pool=none}")
		}
	}
	m.mu.Lock()
	gone := m.gone
	m.mu.Unlock()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(gone, stop)()
	outcome := m.engine(ctx, action, command)
	if gone.Err() != nil {
		return ended(codes.Unavailable, "worker disappeared")
	}
	return outcome
}

// ended returns the outcome of an action that was not executed to its end.
func ended(code codes.Code, why string) remotetest.Outcome {
	return remotetest.Outcome{Response: &execution.ExecuteResponse{Status: &rpc.Status{Code: int32(code), Message: why}}}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
