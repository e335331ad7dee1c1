package reapi_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/remote/remotetest"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// open returns a client of an engine, which it kills operations of.
func open(t *testing.T, address, state string) *reapi.Client {
	t.Helper()
	c, err := reapi.Open(reapi.Options{Address: address, State: state})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// command is an action without inputs that runs in a shell.
type command struct {
	script   string
	platform string // NAME=VALUE,...
	outputs  []string
	root     cache.Digest // of the inputs; the zero value has none
	timeout  time.Duration
	shared   bool // engines can execute it once for many calls
	progress func(execution.ExecutionStage_Value)
}

// upload sends the action, without its inputs, and returns its digest.
func (a command) upload(t *testing.T, u *cache.Sender) cache.Digest {
	t.Helper()
	d, err := a.send(u)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (a command) send(u *cache.Sender) (cache.Digest, error) {
	blobs := reapi.Messages{}
	var failed error
	add := func(m proto.Message) *execution.Digest {
		d, err := blobs.Add(m)
		failed = errors.Join(failed, err)
		return reapi.Digest(d)
	}
	platform := new(execution.Platform)
	for pair := range strings.SplitSeq(a.platform, ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			platform.Properties = append(platform.Properties, &execution.Platform_Property{Name: name, Value: value})
		}
	}
	action := &execution.Action{Platform: platform, DoNotCache: !a.shared, InputRootDigest: reapi.Digest(a.root)}
	if a.root.IsZero() {
		action.InputRootDigest = add(new(execution.Directory))
	}
	action.CommandDigest = add(&execution.Command{Arguments: []string{"/bin/sh", "-c", a.script}, OutputPaths: a.outputs,
		OutputDirectoryFormat: execution.Command_TREE_AND_DIRECTORY})
	if a.timeout > 0 {
		action.Timeout = durationpb.New(a.timeout)
	}
	d, err := reapi.Parse(add(action))
	if err = errors.Join(failed, err); err != nil {
		return d, err
	}
	return d, u.Blobs(context.Background(), blobs, slices.Collect(maps.Keys(blobs))...)
}

// answer returns an engine whose actions all end so.
func answer(o remotetest.Outcome) remotetest.Engine {
	return func(context.Context, *execution.Action, *execution.Command) remotetest.Outcome { return o }
}

// ended returns the outcome of an action whose status is an error.
func ended(code codes.Code, message string) remotetest.Outcome {
	return remotetest.Outcome{Response: &execution.ExecuteResponse{Status: &rpc.Status{Code: int32(code), Message: message}}}
}

var done = &execution.ExecuteResponse{Result: &execution.ActionResult{ExitCode: 3, StdoutRaw: []byte("out")}, Message: "told"}

func TestExecute(t *testing.T) {
	s := remotetest.Start(t)
	c := open(t, s.GRPC, "")
	action := command{script: "true"}.upload(t, reapi.NewSender(c))
	var stages []string
	run := func(e remotetest.Engine) (*reapi.Executed, error) {
		s.Execute(e)
		return c.Execute(context.Background(), action, reapi.Execution{Progress: func(stage execution.ExecutionStage_Value) { stages = append(stages, stage.String()) }})
	}

	x, err := run(answer(remotetest.Outcome{Response: done}))
	if err != nil || x.Result.ExitCode != 3 || string(x.Result.StdoutRaw) != "out" || x.Message != "told" || x.TimedOut {
		t.Fatalf("%+v, %v", x, err)
	}
	if got := fmt.Sprint(stages); got != "[EXECUTING COMPLETED]" {
		t.Errorf("stages %s", got)
	}

	// The client reattaches to interrupted streams, and no action is executed twice.
	s.Forget()
	x, err = run(answer(remotetest.Outcome{Response: done, Cuts: 3}))
	if err != nil || x.Result.ExitCode != 3 {
		t.Fatalf("%+v, %v", x, err)
	}
	if executed, attached := s.Calls("/Execute"), s.Calls("/WaitExecution"); executed != 1 || attached != 3 {
		t.Errorf("%d executed, %d attached", executed, attached)
	}

	var lost *reapi.LostError
	if _, err = run(answer(remotetest.Outcome{Response: done, Cuts: 1, Forgets: true})); !errors.As(err, &lost) || !strings.Contains(err.Error(), "no longer has it") {
		t.Errorf("an engine that was started again: %v", err)
	}
	if _, err = run(answer(remotetest.Outcome{Response: &execution.ExecuteResponse{}})); !errors.As(err, &lost) {
		t.Errorf("no result: %v", err)
	}
}

// TestExecuteLeavesNothing: an action that has ended costs no memory.
func TestExecuteLeavesNothing(t *testing.T) {
	s := remotetest.Start(t)
	c := open(t, s.GRPC, "")
	action := command{script: "true"}.upload(t, reapi.NewSender(c))
	s.Execute(answer(remotetest.Outcome{Response: done}))
	before := runtime.NumGoroutine()
	for range 100 {
		if _, err := c.Execute(context.Background(), action, reapi.Execution{}); err != nil {
			t.Fatal(err)
		}
	}
	await.Until(t, "what waited for the actions is gone", func() bool { return runtime.NumGoroutine() < before+10 })
}

// TestExecuteErrors: errors of the machine, of the caller, and of the action.
func TestExecuteErrors(t *testing.T) {
	s := remotetest.Start(t)
	c := open(t, s.GRPC, "")
	action := command{script: "true"}.upload(t, reapi.NewSender(c))
	execute := func() error {
		_, err := c.Execute(context.Background(), action, reapi.Execution{Platform: "arch=vax,pool=a"})
		return err
	}
	busy, _ := status.New(codes.ResourceExhausted, "queue full").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(7 * time.Second)})
	one, other := cache.SumBytes([]byte("one")), cache.SumBytes([]byte("other"))
	missing, _ := status.New(codes.FailedPrecondition, "not found").WithDetails(&errdetails.PreconditionFailure{Violations: []*errdetails.PreconditionFailure_Violation{
		{Type: "MISSING", Subject: "blobs/" + one.String()}, {Type: "MISSING", Subject: "instance/blobs/" + other.String()}, {Type: "ODD", Subject: one.String()}}})
	for _, try := range []struct {
		said *status.Status
		want string
	}{
		{busy, `*reapi.BusyError 7s: the engine refuses actions: ResourceExhausted: "queue full"`},
		{status.New(codes.Unavailable, "No workers exist for instance name prefix \"\" platform {}"), `*reapi.NoWorkersError: the engine has no workers for the platform arch=vax,pool=a: Unavailable`},
		{missing, `*reapi.MissingError 2: the server lacks 2 blobs of the action, such as ` + one.String()},
		{status.New(codes.FailedPrecondition, "Failed to obtain input directory"), `*reapi.MissingError 0: the server lacks blobs of the action: FailedPrecondition`},
		{status.New(codes.InvalidArgument, "unsorted"), `*reapi.RefusedError false: InvalidArgument: "unsorted"`},
		{status.New(codes.PermissionDenied, "not you"), `*reapi.RefusedError true: PermissionDenied: "not you"`},
		{status.New(codes.Unavailable, "worker disappeared"), `*reapi.LostError: the action was lost: Unavailable: "worker disappeared"`},
		{status.New(codes.Internal, "EOF"), `*reapi.LostError: the action was lost: Internal: "EOF"`},
		{status.New(codes.Canceled, "killed by another"), `*reapi.LostError: the action was lost: Canceled`},
	} {
		for _, early := range []bool{true, false} {
			s.Refuse(nil)
			s.Execute(answer(remotetest.Outcome{Response: &execution.ExecuteResponse{Status: try.said.Proto()}}))
			if early {
				s.Refuse(try.said)
			}
			if got := describe(execute()); !strings.HasPrefix(got, try.want) {
				t.Errorf("early %v: %s\nwant %s", early, got, try.want)
			}
		}
	}
	s.Refuse(nil)
	s.Execute(nil)
	if got := describe(execute()); !strings.HasPrefix(got, "*reapi.RefusedError false: Unimplemented") {
		t.Errorf("a cache: %s", got)
	}
	s.Execute(answer(remotetest.Outcome{Response: done}))
	s.Evict()
	if got := describe(execute()); !strings.HasPrefix(got, "*reapi.MissingError 1: the server lacks 1 blobs") {
		t.Errorf("evicted: %s", got)
	}
}

// describe formats the fields of an error's type next to its text.
func describe(err error) string {
	var busy *reapi.BusyError
	var missing *reapi.MissingError
	var refused *reapi.RefusedError
	switch {
	case err == nil:
		return "nil"
	case errors.As(err, &busy):
		return fmt.Sprintf("%T %v: %v", busy, busy.Wait, err)
	case errors.As(err, &missing):
		return fmt.Sprintf("%T %d: %v", missing, len(missing.Blobs), err)
	case errors.As(err, &refused):
		return fmt.Sprintf("%T %v: %v", refused, refused.Rights, err)
	}
	return fmt.Sprintf("%T: %v", err, err)
}

// TestTimeout: a timeout of an action is a result, but one of a server is not.
func TestTimeout(t *testing.T) {
	s := remotetest.Start(t)
	c := open(t, s.GRPC, "")
	action := command{script: "true"}.upload(t, reapi.NewSender(c))
	late := ended(codes.DeadlineExceeded, "deadline exceeded")
	ran := func(d time.Duration) remotetest.Outcome {
		now := time.Now()
		o := ended(codes.DeadlineExceeded, "deadline exceeded")
		o.Response.Result = &execution.ActionResult{StdoutRaw: []byte("until then"), ExecutionMetadata: &execution.ExecutedActionMetadata{
			ExecutionStartTimestamp: timestamppb.New(now), ExecutionCompletedTimestamp: timestamppb.New(now.Add(d))}}
		return o
	}
	for _, try := range []struct {
		name    string
		outcome remotetest.Outcome
		limit   time.Duration
		own     bool // the action's own
	}{
		{"its own", ran(2 * time.Second), 2 * time.Second, true},
		{"too early", ran(time.Second), 2 * time.Second, false},
		{"no limit", ran(time.Hour), 0, false},
		{"no times, and it cannot have been", late, time.Hour, false},
		{"no times", late, time.Nanosecond, true},
	} {
		s.Execute(answer(try.outcome))
		x, err := c.Execute(context.Background(), action, reapi.Execution{Timeout: try.limit})
		var lost *reapi.LostError
		if own := err == nil && x.TimedOut; own != try.own || !own && !errors.As(err, &lost) {
			t.Errorf("%s: %+v, %v", try.name, x, err)
		}
		if err == nil && try.outcome.Response.Result != nil && string(x.Result.StdoutRaw) != "until then" {
			t.Errorf("%s: the output is lost", try.name)
		}
	}
}

// TestKill: who stops waiting kills the action, where there is a way to.
func TestKill(t *testing.T) {
	for _, kills := range []bool{true, false} {
		s := remotetest.Start(t)
		state := ""
		if kills {
			state = s.GRPC
		}
		c := open(t, s.GRPC, state)
		action := command{script: "true"}.upload(t, reapi.NewSender(c))
		ctx, cancel := context.WithCancelCause(context.Background())
		why := errors.New("interrupted")
		dead := make(chan struct{})
		s.Execute(func(ctx context.Context, _ *execution.Action, _ *execution.Command) remotetest.Outcome {
			<-ctx.Done()
			close(dead)
			return remotetest.Outcome{}
		})
		_, err := c.Execute(ctx, action, reapi.Execution{Progress: func(execution.ExecutionStage_Value) { cancel(why) }})
		if err != why {
			t.Errorf("kills %v: %v", kills, err)
		}
		if got := len(s.Killed()); kills && got != 1 || !kills && got != 0 {
			t.Errorf("kills %v: %d operations were killed", kills, got)
		}
		if kills {
			<-dead
		}
	}
}
