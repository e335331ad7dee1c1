package remotetest

import (
	"context"
	"fmt"
	"path"
	"slices"

	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Outcome is the outcome of an action.
type Outcome struct {
	Response *execution.ExecuteResponse
	Cuts     int  // streams that break off before the response comes
	Forgets  bool // the operation is not known when a stream is attached to it again
}

// Engine executes actions: it can wait, and ctx ends when the action is killed.
type Engine func(ctx context.Context, action *execution.Action, command *execution.Command) Outcome

// operation is an action that is executed.
type operation struct {
	name    string        // without the folder that clients see
	done    chan struct{} // closed when there is an outcome
	outcome Outcome
	kill    context.CancelFunc
	cuts    int
}

// Execute makes the server an engine whose actions are executed by e.
func (s *Server) Execute(e Engine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engine = e
}

// Refuse makes the engine refuse actions with a status before they are operations; nil makes
// it take them again.
func (s *Server) Refuse(why *status.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuses = why
}

// Killed returns the names of the operations that were killed.
func (s *Server) Killed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.killed)
}

// Execute implements execution.ExecutionServer.
func (s *service) Execute(ask *execution.ExecuteRequest, stream execution.Execution_ExecuteServer) error {
	s.mu.Lock()
	engine, refuses := s.engine, s.refuses
	s.mu.Unlock()
	if engine == nil {
		return status.Error(codes.Unimplemented, "this is a cache")
	}
	if refuses != nil {
		return refuses.Err()
	}
	action, command := new(execution.Action), new(execution.Command)
	missing := &errdetails.PreconditionFailure{}
	s.find(ask.ActionDigest, action, missing)
	s.find(action.CommandDigest, command, missing)
	s.findTree(action.InputRootDigest, missing)
	if len(missing.Violations) > 0 {
		lacks, _ := status.New(codes.FailedPrecondition, "blobs are missing").WithDetails(missing)
		return lacks.Err()
	}
	ctx, kill := context.WithCancel(context.Background())
	s.mu.Lock()
	o := &operation{name: fmt.Sprint(len(s.operations)), done: make(chan struct{}), kill: kill}
	s.operations[o.name] = o
	s.mu.Unlock()
	go func() {
		defer kill()
		outcome := engine(ctx, action, command)
		if ctx.Err() != nil {
			outcome = Outcome{Response: &execution.ExecuteResponse{Status: &rpc.Status{Code: int32(codes.Canceled), Message: "killed"}}}
		}
		o.outcome = outcome
		close(o.done)
	}()
	return s.follow(o, stream)
}

// WaitExecution implements execution.ExecutionServer.
func (s *service) WaitExecution(ask *execution.WaitExecutionRequest, stream execution.Execution_WaitExecutionServer) error {
	o := s.operation(ask.Name)
	if o == nil {
		return status.Error(codes.NotFound, "no such operation")
	}
	<-o.done
	if o.outcome.Forgets {
		return status.Error(codes.NotFound, "no such operation")
	}
	return s.follow(o, stream)
}

func (s *service) operation(name string) *operation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.operations[path.Base(name)]
}

// follow sends what is known of an operation until it has ended.
func (s *service) follow(o *operation, stream grpc.ServerStreamingServer[longrunningpb.Operation]) error {
	send := func(stage execution.ExecutionStage_Value, answer proto.Message) error {
		message := &longrunningpb.Operation{Name: "operations/" + o.name, Done: answer != nil}
		message.Metadata, _ = anypb.New(&execution.ExecuteOperationMetadata{Stage: stage})
		if answer != nil {
			packed, _ := anypb.New(answer)
			message.Result = &longrunningpb.Operation_Response{Response: packed}
		}
		return stream.Send(message)
	}
	if err := send(execution.ExecutionStage_EXECUTING, nil); err != nil {
		return err
	}
	select {
	case <-o.done:
	case <-stream.Context().Done():
		return stream.Context().Err()
	case <-s.ended:
		return status.Error(codes.Unavailable, "the server ends")
	}
	s.mu.Lock()
	o.cuts++
	cut := o.cuts <= o.outcome.Cuts
	s.mu.Unlock()
	if cut {
		return status.Error(codes.Unavailable, "broken off")
	}
	return send(execution.ExecutionStage_COMPLETED, o.outcome.Response)
}

// find reads a message, or adds it to missing.
func (s *service) find(d *execution.Digest, into proto.Message, missing *errdetails.PreconditionFailure) bool {
	s.mu.Lock()
	content, ok := s.blobs[d.GetHash()]
	s.mu.Unlock()
	if d.GetSizeBytes() == 0 {
		ok = true
	}
	if ok && into != nil {
		ok = proto.Unmarshal(content, into) == nil
	}
	if !ok {
		missing.Violations = append(missing.Violations, &errdetails.PreconditionFailure_Violation{Type: "MISSING", Subject: fmt.Sprintf("blobs/%s/%d", d.GetHash(), d.GetSizeBytes())})
	}
	return ok
}

func (s *service) findTree(d *execution.Digest, missing *errdetails.PreconditionFailure) {
	directory := new(execution.Directory)
	if !s.find(d, directory, missing) {
		return
	}
	for _, f := range directory.Files {
		s.find(f.Digest, nil, missing)
	}
	for _, sub := range directory.Directories {
		s.findTree(sub.Digest, missing)
	}
}

// queueState is Buildbarn's BuildQueueState, as far as clients kill operations by it.
var queueState = grpc.ServiceDesc{
	ServiceName: "buildbarn.buildqueuestate.BuildQueueState",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "KillOperations", Handler: func(srv any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		ask := new(emptypb.Empty)
		if err := decode(ask); err != nil {
			return nil, err
		}
		// Fields 1 of KillOperationsRequest and of its filter.
		filter, _ := protowire.ConsumeBytes(ask.ProtoReflect().GetUnknown()[1:])
		name, _ := protowire.ConsumeString(filter[1:])
		return new(emptypb.Empty), srv.(*service).killOperation(name)
	}}},
}

func (s *service) killOperation(name string) error {
	o := s.operation(name)
	if o == nil || path.Base(name) != name {
		return status.Error(codes.NotFound, "no such operation")
	}
	s.mu.Lock()
	s.killed = append(s.killed, o.name)
	s.mu.Unlock()
	o.kill()
	return nil
}
