package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/backend/remote"
	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/remote/remotetest"
	"github.com/fevalgraph/fevalgraph/internal/proof"
)

// opened returns a session of a backend that knows its workers.
func opened(t *testing.T, m *machine, change func(*remote.Options)) (*remote.Backend, backend.Session) {
	t.Helper()
	b, _ := m.open(t, change)
	s, err := b.Open(t.Context(), backend.Spec{Name: t.Name(), Inputs: []backend.Input{{Path: "f", Content: []byte("text")}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return b, s
}

// first makes the engine end the first n actions so, and returns how many it executed.
func (m *machine) first(n int, end func(done remotetest.Outcome) remotetest.Outcome, run bool) *atomic.Int64 {
	var actions, executed atomic.Int64
	m.server.Execute(func(ctx context.Context, action *execution.Action, command *execution.Command) remotetest.Outcome {
		bad := actions.Add(1) <= int64(n)
		if bad && !run {
			return end(remotetest.Outcome{})
		}
		executed.Add(1)
		outcome := m.execute(ctx, action, command)
		if bad {
			return end(outcome)
		}
		return outcome
	})
	return &executed
}

func always(o remotetest.Outcome) func(remotetest.Outcome) remotetest.Outcome {
	return func(remotetest.Outcome) remotetest.Outcome { return o }
}

// answered returns the outcome of an action that left a result.
func (m *machine) answered(r *wire.Result) remotetest.Outcome {
	return m.left(string(wire.Encode(r)))
}

func (m *machine) left(result string) remotetest.Outcome {
	return remotetest.Outcome{Response: &execution.ExecuteResponse{Result: &execution.ActionResult{
		OutputFiles: []*execution.OutputFile{{Path: "other", Digest: m.server.Put([]byte("x"))}, {Path: wire.ResultFile, Digest: m.server.Put([]byte(result))}}}}}
}

// Temporary errors of an engine only cost time.
func TestPassingTrouble(t *testing.T) {
	for _, try := range []struct {
		name string
		end  func(m *machine) func(remotetest.Outcome) remotetest.Outcome
		run  bool // the action is executed before
		want int64
	}{
		{"busy", func(*machine) func(remotetest.Outcome) remotetest.Outcome {
			return always(ended(codes.ResourceExhausted, "queue full"))
		}, false, 1},
		{"lost", func(*machine) func(remotetest.Outcome) remotetest.Outcome {
			return always(ended(codes.Unavailable, "worker disappeared"))
		}, false, 1},
		{"evicted", func(m *machine) func(remotetest.Outcome) remotetest.Outcome {
			return func(remotetest.Outcome) remotetest.Outcome {
				m.server.Evict()
				return ended(codes.FailedPrecondition, "Failed to obtain input directory")
			}
		}, false, 1},
		{"the answer is lost", func(*machine) func(remotetest.Outcome) remotetest.Outcome {
			return always(ended(codes.Internal, "EOF"))
		}, true, 1}, // the engine has the result
		{"the result is evicted", func(m *machine) func(remotetest.Outcome) remotetest.Outcome {
			return func(done remotetest.Outcome) remotetest.Outcome {
				m.server.Evict()
				return done
			}
		}, true, 2},
	} {
		t.Run(try.name, func(t *testing.T) {
			m := start(t)
			_, s := opened(t, m, nil)
			executed := m.first(1, try.end(m), try.run)
			exit, err := s.Exec(t.Context(), shell("grep -q text f && exit 4"))
			if err != nil || exit.Code != 4 || executed.Load() != try.want {
				t.Errorf("got %+v, %v; %d actions were executed", exit, err, executed.Load())
			}
		})
	}
}

// An engine's error for an action is returned with its reason, and is the machine's if another machine could succeed.
func TestLastingTrouble(t *testing.T) {
	long := strings.Repeat("x", 3000) + "the end"
	exits := func(r *execution.ActionResult) func(*machine) remotetest.Outcome {
		return func(*machine) remotetest.Outcome {
			return remotetest.Outcome{Response: &execution.ExecuteResponse{Result: r}}
		}
	}
	for _, try := range []struct {
		name      string
		end       func(m *machine) remotetest.Outcome
		want      string
		preempted bool
		limit     time.Duration
	}{
		{"lost", func(*machine) remotetest.Outcome { return ended(codes.Unavailable, "worker disappeared") }, "worker disappeared", true, 0},
		{"missing", func(*machine) remotetest.Outcome { return ended(codes.FailedPrecondition, "no directory") }, "the server lacks blobs", true, 0},
		{"no workers", func(*machine) remotetest.Outcome { return ended(codes.Unavailable, "No workers exist for it") }, "no workers for actions without platform", false, 0},
		{"refused", func(*machine) remotetest.Outcome { return ended(codes.InvalidArgument, "unsorted") }, "unsorted", false, 0},
		{"exit status", exits(&execution.ActionResult{ExitCode: 9, StderrRaw: []byte("no such library")}), `ended with exit status 9: "no such library"`, false, 0},
		{"much is printed", func(m *machine) remotetest.Outcome {
			return exits(&execution.ActionResult{ExitCode: 9, StderrDigest: m.server.Put([]byte(long))})(m)
		}, `: "` + long[len(long)-2000:] + `"`, false, 0},
		{"no result", exits(&execution.ActionResult{}), "left no result", false, 0},
		{"no digest", exits(&execution.ActionResult{OutputFiles: []*execution.OutputFile{{Path: wire.ResultFile, Digest: &execution.Digest{Hash: "x"}}}}), "digest", false, 0},
		{"no JSON", func(m *machine) remotetest.Outcome { return m.left("{") }, "reading the result of an action", false, 0},
		{"protocol", func(m *machine) remotetest.Outcome { return m.left(`{"protocol":99}`) }, "protocol 99, not 1", false, 0},
		{"no index", func(m *machine) remotetest.Outcome { return m.left(`{"protocol":1,"index":"eA=="}`) }, "parcel", false, 0},
		{"failed", func(m *machine) remotetest.Outcome {
			return m.answered(&wire.Result{Protocol: wire.Protocol, Failure: worker.FailureOf(errors.New("the disk is full"))})
		}, "the disk is full", false, 0},
		{"ended by the engine", func(*machine) remotetest.Outcome { return ended(codes.DeadlineExceeded, "too long") }, "raise the engine's limit", false, 0},
		{"late", func(*machine) remotetest.Outcome {
			o := ended(codes.DeadlineExceeded, "too long")
			o.Response.Result = &execution.ActionResult{ExecutionMetadata: &execution.ExecutedActionMetadata{
				ExecutionStartTimestamp: timestamppb.New(time.Unix(0, 0)), ExecutionCompletedTimestamp: timestamppb.New(time.Unix(3000, 0))}}
			return o
		}, "its worker may be overloaded", false, time.Second},
	} {
		t.Run(try.name, func(t *testing.T) {
			m := start(t)
			known := filepath.Join(t.TempDir(), "facts.json")
			b, _ := m.open(t, func(o *remote.Options) { o.Facts = known })
			if _, err := b.Capabilities().BareIdentity(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, s := opened(t, m, func(o *remote.Options) {
				o.Facts, o.Patience = known, 0
				if strings.HasPrefix(try.name, "ended") {
					o.MaxTimeout = time.Nanosecond
				}
			})
			m.first(1000, always(try.end(m)), false)
			cmd := shell("true")
			cmd.Timeout = try.limit
			exit, err := s.Exec(t.Context(), cmd)
			if err == nil || !strings.Contains(err.Error(), try.want) {
				t.Errorf("got %+v, %v", exit, err)
			}
			if gone := (*backend.PreemptedError)(nil); errors.As(err, &gone) != try.preempted {
				t.Errorf("preempted is not %v: %v", try.preempted, err)
			}
			if f, err := s.Collect(t.Context(), "f"); err == nil {
				f.Close()
				t.Error("collected a file of an action without a result")
			}
		})
	}
}

// The backend waits for an unreachable engine as long as the options specify.
func TestAway(t *testing.T) {
	m := start(t)
	_, s := opened(t, m, func(o *remote.Options) { o.Patience = 100 * time.Millisecond })
	m.server.Fail(remotetest.Faults{Down: true})
	if exit, err := s.Exec(t.Context(), shell("true")); err == nil || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("got %+v, %v", exit, err)
	}
	m.server.Fail(remotetest.Faults{})
	if exit, err := s.Exec(t.Context(), shell("exit 3")); err != nil || exit.Code != 3 {
		t.Errorf("got %+v, %v", exit, err)
	}
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := s.Exec(ctx, shell("true")); !errors.Is(err, stop) {
		t.Errorf("cancelled before: %v", err)
	}
	if _, err := s.Collect(ctx, "f"); !errors.Is(err, stop) {
		t.Errorf("cancelled before: %v", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, execErr := s.Exec(t.Context(), shell("true"))
	_, collectErr := s.Collect(t.Context(), "f")
	for _, err := range []error{execErr, collectErr, s.Place(t.Context()), s.Verify(t.Context())} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("a closed session: %v", err)
		}
	}
}

// Workers are queried once, and not at all without permission.
func TestAsked(t *testing.T) {
	m := start(t)
	known := filepath.Join(t.TempDir(), "facts.json")
	b, _ := m.open(t, func(o *remote.Options) {
		o.Facts, o.Platform = known, []remote.Property{{Name: "size", Value: "small"}}
	})
	ask := func(b *remote.Backend) (all []string, err error) {
		can := b.Capabilities()
		bare, bareErr := can.BareIdentity(t.Context())
		programs, programsErr := can.Programs(t.Context(), []string{"sh"})
		platform, platformErr := can.Python.Platform(t.Context())
		gpuErr := can.GPU(t.Context())
		if absent := (*backend.AbsentError)(nil); errors.As(gpuErr, &absent) { // tests need none
			gpuErr = nil
		}
		for _, f := range slices.Concat(bare, programs) {
			all = append(all, f.Label+"="+f.Value)
		}
		return append(all, platform, can.Isolation()), errors.Join(bareErr, programsErr, platformErr, gpuErr)
	}
	first, err := ask(b)
	if err != nil || !slices.Contains(first, "property size=small") {
		t.Fatalf("got %q, %v", first, err)
	}
	asked := m.server.Calls("/Execute")
	notAsked := errors.New("no request")
	plan, _ := m.open(t, func(o *remote.Options) {
		o.Facts, o.NotAsked, o.Platform = known, notAsked, []remote.Property{{Name: "size", Value: "small"}}
	})
	again, err := ask(plan)
	if err != nil || !slices.Equal(first, again) || m.server.Calls("/Execute") != asked {
		t.Errorf("got %q, %v; %d requests, then %d", again, err, asked, m.server.Calls("/Execute"))
	}
	fresh, _ := m.open(t, func(o *remote.Options) { o.NotAsked = notAsked })
	if _, err := fresh.Identity(t.Context()); !errors.Is(err, notAsked) {
		t.Errorf("got %v", err)
	}
	if _, err := fresh.Open(t.Context(), backend.Spec{}); !errors.Is(err, notAsked) {
		t.Errorf("got %v", err)
	}
}

// Contents that programs of a sandbox leave go to the store, whether they are part of the
// result or files of the action.
func TestSandbox(t *testing.T) {
	m := start(t)
	judge := filepath.Join(t.TempDir(), "judge")
	known := filepath.Join(t.TempDir(), "facts.json")
	if err := facts.Read(known, proof.Place{}).Put(map[string]facts.Fact{wire.Place: {Text: "/w"}, facts.Sandbox: {Identity: backend.Identity{{Label: "sandbox", Value: "1"}}}}); err != nil {
		t.Fatal(err)
	}
	b, store := m.open(t, func(o *remote.Options) { o.Facts, o.Judge = known, judge })
	if _, err := b.Sandbox().Run(t.Context(), backend.Program{}); err == nil || !strings.Contains(err.Error(), "reading the program of actions") {
		t.Errorf("without go-judge: %v", err)
	}
	writeFile(t, judge, "go-judge")
	if id, err := b.Sandbox().Identity(t.Context()); err != nil || len(id) != 1 || id[0].Value != "1" {
		t.Errorf("got %v, %v", id, err)
	}
	small, large := []byte("small"), []byte("large")
	stdin, err := cache.PutBytes(t.Context(), store, []byte("input"))
	if err != nil {
		t.Fatal(err)
	}
	var action *execution.Action
	m.server.Execute(func(_ context.Context, a *execution.Action, _ *execution.Command) remotetest.Outcome {
		action = a
		m.server.Put(large)
		return m.answered(&wire.Result{Protocol: wire.Protocol, Blobs: [][]byte{small}, Endings: []backend.Ending{
			{Stdout: cache.SumBytes(small), Kept: []backend.KeptFile{{Path: "a.out", Digest: cache.SumBytes(large)}}}}})
	})
	endings, err := b.Sandbox().Run(t.Context(), backend.Program{Argv: []string{"cc"}, Stdin: stdin, Limits: backend.Limits{Clock: time.Second}})
	if err != nil || len(endings) != 1 {
		t.Fatalf("got %+v, %v", endings, err)
	}
	for _, want := range [][]byte{small, large} {
		if got, err := cache.ReadBlob(t.Context(), store, cache.SumBytes(want), -1); string(got) != string(want) || err != nil {
			t.Errorf("the store has %q, %v", got, err)
		}
	}
	if got, ok := m.server.Blob(stdin.Hex()); !ok || string(got) != "input" || action.Timeout.AsDuration() != 10*time.Minute+time.Second {
		t.Errorf("the engine has %q, and a limit of %v", got, action.Timeout.AsDuration())
	}
	m.first(1, always(m.answered(&wire.Result{Protocol: wire.Protocol, Endings: []backend.Ending{{Stdout: cache.SumBytes([]byte("gone"))}}})), false)
	if _, err := b.Sandbox().Run(t.Context(), backend.Program{Argv: []string{"cc"}}); err == nil || !strings.Contains(err.Error(), "is missing or damaged") {
		t.Errorf("files of a program are missing: %v", err)
	}
}

// A command whose state exceeds the limit keeps as much as fits, and its notes report it.
func TestMaxState(t *testing.T) {
	m := start(t)
	_, s := opened(t, m, func(o *remote.Options) { o.MaxState = 1000 })
	var notes strings.Builder
	cmd := shell("head -c 2000 /dev/zero >large; echo small >small")
	cmd.Notes = &notes
	if exit, err := s.Exec(t.Context(), cmd); err != nil || exit.Code != 0 {
		t.Fatalf("got %+v, %v", exit, err)
	}
	if !strings.Contains(notes.String(), "1 files of 2000 bytes are not kept") {
		t.Errorf("notes: %q", notes.String())
	}
	if _, err := s.Collect(t.Context(), "large"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	f, err := s.Collect(t.Context(), "small")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); string(text) != "small\n" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

// The backend waits for an engine that accepts no action as long as the options specify, but no longer than the caller.
func TestBusy(t *testing.T) {
	m := start(t)
	known := filepath.Join(t.TempDir(), "facts.json")
	var notes bytes.Buffer
	b, s := opened(t, m, func(o *remote.Options) { o.Facts, o.Patience = known, time.Second })
	if _, err := b.Capabilities().BareIdentity(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.server.Refuse(status.New(codes.ResourceExhausted, "the queue is full"))
	cmd := shell("true")
	cmd.Notes = &notes
	_, err := s.Exec(t.Context(), cmd)
	if err == nil || !strings.Contains(err.Error(), "busy since") || !strings.Contains(err.Error(), "the queue is full") {
		t.Errorf("got %v", err)
	}
	if text := notes.String(); strings.Count(text, "waiting: the engine refuses actions") != 1 {
		t.Errorf("notes: %q", text)
	}
	_, s = opened(t, m, func(o *remote.Options) { o.Facts, o.Patience = known, time.Hour })
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cmd.Notes = writerFunc(func([]byte) { cancel(stop) })
	if _, err := s.Exec(ctx, cmd); !errors.Is(err, stop) {
		t.Errorf("cancelled: %v", err)
	}
	m.server.Refuse(nil)
	if exit, err := s.Exec(t.Context(), shell("exit 3")); err != nil || exit.Code != 3 {
		t.Errorf("got %+v, %v", exit, err)
	}
}

// An action that the engine refuses for its own sake, though it takes others all the time, is not
// tried for ever.
func TestRefusedAmongOthers(t *testing.T) {
	m := start(t)
	var all atomic.Int64
	m.server.Execute(func(ctx context.Context, action *execution.Action, command *execution.Command) remotetest.Outcome {
		if action.Timeout.AsDuration() < 11*time.Minute { // overhead, and its own limit
			all.Add(1)
			return ended(codes.ResourceExhausted, "the message is too large")
		}
		return m.execute(ctx, action, command)
	})
	b, s := opened(t, m, func(o *remote.Options) { o.Patience = time.Second })
	ctx, cancel := context.WithCancel(t.Context())
	others := make(chan error)
	go func() {
		var err error
		for ctx.Err() == nil && err == nil {
			_, err = backend.Once(t.Context(), b, backend.Spec{Name: "other"}, shell("true"))
		}
		others <- err
	}()
	cmd := shell("true")
	cmd.Timeout = time.Second
	_, err := s.Exec(t.Context(), cmd)
	cancel()
	if said := <-others; said != nil {
		t.Errorf("the others: %v", said)
	}
	if err == nil || !strings.Contains(err.Error(), "while the engine took others") && !strings.Contains(err.Error(), "busy since") || all.Load() < 2 {
		t.Errorf("refused %d times: %v", all.Load(), err)
	}
}

// writerFunc calls itself with the written bytes.
type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }
