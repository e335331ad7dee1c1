package reapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/fevalgraph/fevalgraph/cache"

	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// Execution configures the execution of an action.
type Execution struct {
	SkipCache bool          // even if the engine has a result
	Timeout   time.Duration // of the action; 0 means no limit
	Platform  string        // of the action, in the form of NoWorkersError
	// Progress is called with each stage, in order, while Execute waits; it can be nil.
	Progress func(execution.ExecutionStage_Value)
}

// Executed is an action that an engine has executed.
type Executed struct {
	Result   *execution.ActionResult // if it timed out, the files so far
	Cached   bool                    // the engine had the result
	TimedOut bool                    // by the action's own limit
	Message  string                  // of the engine, for users; can be ""
}

// Execute executes an action whose blobs the server has, those of its inputs included, and waits for the
// result. It resumes broken streams. When ctx ends, the action is killed if Options.State is set, even if
// other clients wait for the same action; otherwise the engine can execute it to its end. The error is a
// *BusyError, *NoWorkersError, *MissingError, *LostError, *RefusedError, or the cause of ctx.
func (c *Client) Execute(ctx context.Context, action cache.Digest, e Execution) (*Executed, error) {
	began := time.Now()
	calls, end := context.WithCancel(c.with(ctx)) // a stream stays open until its last message is read
	defer end()
	stream, err := c.engine.Execute(calls, &execution.ExecuteRequest{InstanceName: c.o.Instance, ActionDigest: Digest(action), SkipCacheLookup: e.SkipCache})
	w := waiter{progress: e.Progress}
	cuts := retry.Tries{Patience: retry.Patience{Calls: resumes + 2, Pause: 200 * time.Millisecond, Longest: 10 * time.Second}}
	for {
		var answer *execution.ExecuteResponse
		if err == nil {
			var more bool
			if answer, more, err = w.follow(stream); more {
				cuts.Progress()
			}
		}
		switch {
		case answer != nil:
			return executed(answer, e, began)
		case ctx.Err() != nil:
			c.kill(w.name)
			return nil, context.Cause(ctx)
		case w.name == "" || !isCut(err) || cuts.Wait(ctx, err) != nil && ctx.Err() == nil:
			return nil, w.fault(status.Convert(err), e)
		case ctx.Err() != nil:
			continue
		}
		stream, err = c.engine.WaitExecution(calls, &execution.WaitExecutionRequest{Name: w.name})
	}
}

// isCut reports whether a stream ended because of the connection to the engine.
func isCut(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.Internal, codes.Aborted, codes.Unknown, codes.Canceled, codes.DeadlineExceeded:
		return true
	}
	return false
}

// waiter follows the streams of one operation.
type waiter struct {
	name     string // of the operation; "" until the engine has given it one
	stage    execution.ExecutionStage_Value
	progress func(execution.ExecutionStage_Value)
}

// follow reads a stream up to the response; more reports that a message arrived.
func (w *waiter) follow(stream grpc.ServerStreamingClient[longrunningpb.Operation]) (answer *execution.ExecuteResponse, more bool, err error) {
	for {
		o, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			err = status.Error(codes.Unavailable, "the stream ended without a result")
		}
		if err != nil {
			return nil, more, err
		}
		more = true
		w.name = o.GetName()
		var m execution.ExecuteOperationMetadata
		if o.GetMetadata().UnmarshalTo(&m) == nil && m.Stage > w.stage && w.progress != nil {
			w.stage = m.Stage
			w.progress(m.Stage)
		}
		if !o.GetDone() {
			continue
		}
		answer = new(execution.ExecuteResponse)
		if failed := o.GetError(); failed != nil { // servers should not send this
			answer.Status = failed
		} else if err := o.GetResponse().UnmarshalTo(answer); err != nil {
			return nil, more, status.Errorf(codes.DataLoss, "malformed answer: %v", err)
		}
		return answer, more, nil
	}
}

// fault returns the error of an operation whose stream ended. An operation with a name had begun.
func (w *waiter) fault(said *status.Status, e Execution) error {
	if w.name != "" && said.Code() == codes.NotFound {
		return &LostError{fmt.Errorf("the engine no longer has it: %w", short(said))}
	}
	return executionFault(said, e.Platform)
}

// executed returns the outcome of an action.
func executed(answer *execution.ExecuteResponse, e Execution, began time.Time) (*Executed, error) {
	said := status.FromProto(answer.GetStatus())
	x := &Executed{Result: answer.GetResult(), Cached: answer.GetCachedResult(), Message: answer.GetMessage()}
	switch {
	case said.Code() == codes.OK && x.Result != nil:
		return x, nil
	case said.Code() == codes.OK:
		return nil, &LostError{errors.New("the engine sent no result")}
	case said.Code() != codes.DeadlineExceeded:
		return nil, executionFault(said, e.Platform)
	}
	if x.Result == nil {
		x.Result = new(execution.ActionResult)
	}
	// Calls between servers have deadlines, too, which the action did not cause.
	took := time.Since(began)
	if m := x.Result.GetExecutionMetadata(); m.GetExecutionStartTimestamp() != nil && m.GetExecutionCompletedTimestamp() != nil {
		took = m.ExecutionCompletedTimestamp.AsTime().Sub(m.ExecutionStartTimestamp.AsTime())
	}
	if e.Timeout == 0 || took < e.Timeout {
		return nil, &LostError{fmt.Errorf("it took %v of its %v: %w", took.Round(time.Millisecond), e.Timeout, short(said))}
	}
	x.TimedOut = true
	return x, nil
}

// killing limits how long a scheduler can take to answer while a run ends.
const killing = 5 * time.Second

// kill ends an operation, as far as the engine can.
func (c *Client) kill(operation string) {
	if c.state == nil || operation == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), killing)
	defer cancel()
	// KillOperationsRequest{filter: {operation_name}, status: {code, message}}, encoded as unknown fields,
	// since no other part of the API is needed.
	filter := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), path.Base(operation))
	why := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(codes.Canceled))
	why = protowire.AppendString(protowire.AppendTag(why, 2, protowire.BytesType), "canceled by the client")
	body := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), filter)
	body = protowire.AppendBytes(protowire.AppendTag(body, 2, protowire.BytesType), why)
	request := new(emptypb.Empty)
	request.ProtoReflect().SetUnknown(body)
	_ = c.state.Invoke(c.with(ctx), "/buildbarn.buildqueuestate.BuildQueueState/KillOperations", request, new(emptypb.Empty))
}
