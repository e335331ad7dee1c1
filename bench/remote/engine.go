package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/cache/remote/remotetest"
)

// engine stands in for an engine for remote execution.
type engine struct {
	server *remotetest.Server
	front  *counter
	took   time.Duration
	ends   []func()

	mu    sync.Mutex
	first map[string]*result // by kind of action
}

// result is the result of the first action of a kind.
type result struct {
	once sync.Once
	got  *execution.ActionResult
	err  error
}

func startEngine(took time.Duration) (e *engine, err error) {
	e = &engine{took: took, first: map[string]*result{}}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("starting the engine: %v", r)
		}
	}()
	e.server = remotetest.Start(e)
	e.server.Execute(e.execute)
	e.front, err = newCounter(e.server.GRPC)
	return e, err
}

// Helper, Fatal and Cleanup implement remotetest.Test.
func (e *engine) Helper()          {}
func (e *engine) Fatal(why ...any) { panic(fmt.Sprint(why...)) }
func (e *engine) Cleanup(f func()) { e.ends = append(e.ends, f) }

func (e *engine) close() {
	for _, f := range e.ends {
		f()
	}
}

// execute gives an action the result of the first action of its kind.
func (e *engine) execute(ctx context.Context, action *execution.Action, command *execution.Command) remotetest.Outcome {
	began := time.Now()
	kind, err := e.kind(action)
	if err != nil {
		return remotetest.Outcome{Response: &execution.ExecuteResponse{Message: err.Error()}}
	}
	e.mu.Lock()
	r := e.first[kind]
	if r == nil {
		r = new(result)
		e.first[kind] = r
	}
	e.mu.Unlock()
	r.once.Do(func() {
		r.got, r.err = e.server.Perform(ctx, os.TempDir(), action, command, remotetest.Process())
		if r.err == nil && r.got.ExitCode != 0 {
			r.err = fmt.Errorf("%q ended with exit status %d\n%s", command.Arguments, r.got.ExitCode, r.got.StderrRaw)
		}
	})
	if r.err != nil {
		fmt.Fprintln(os.Stderr, "remote:", r.err)
		return remotetest.Outcome{Response: &execution.ExecuteResponse{Message: r.err.Error()}}
	}
	select {
	case <-time.After(e.took - time.Since(began)):
	case <-ctx.Done():
	}
	return remotetest.Outcome{Response: &execution.ExecuteResponse{Result: r.got}}
}

// kind returns the task of an action, without the parts that differ between actions of a kind.
func (e *engine) kind(action *execution.Action) (string, error) {
	root := new(execution.Directory)
	content, _ := e.server.Blob(action.InputRootDigest.Hash)
	if err := proto.Unmarshal(content, root); err != nil {
		return "", err
	}
	for _, f := range root.Files {
		if f.Name != wire.TaskFile {
			continue
		}
		content, _ := e.server.Blob(f.Digest.Hash)
		var t wire.Task
		if err := json.Unmarshal(content, &t); err != nil {
			return "", err
		}
		if t.Session == nil {
			return fmt.Sprintf("ask %q", t.Ask), nil
		}
		return fmt.Sprintf("state %v, %d inputs", t.Session.State, len(t.Session.Inputs)), nil
	}
	return "", fmt.Errorf("an action without %s", wire.TaskFile)
}
