package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"github.com/fevalgraph/fevalgraph/backend/remote"
	"github.com/fevalgraph/fevalgraph/cache/remote/remotetest"
)

// engine is a stand-in for one.
type engine struct {
	server *remotetest.Server
	front  *counter
	took   time.Duration
	ends   []func()

	mu    sync.Mutex
	first map[string]*result // by the kind of action
}

// result is that of the first action of a kind.
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

// Helper, Fatal and Cleanup make it a remotetest.Test.
func (e *engine) Helper()          {}
func (e *engine) Fatal(why ...any) { panic(fmt.Sprint(why...)) }
func (e *engine) Cleanup(f func()) { e.ends = append(e.ends, f) }

func (e *engine) close() {
	for _, f := range e.ends {
		f()
	}
}

// execute gives an action the result of the first of its kind.
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
	r.once.Do(func() { r.got, r.err = e.really(action, command) })
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

// kind is the task of an action without what tells it from others of its kind.
func (e *engine) kind(action *execution.Action) (string, error) {
	root := new(execution.Directory)
	content, _ := e.server.Blob(action.InputRootDigest.Hash)
	if err := proto.Unmarshal(content, root); err != nil {
		return "", err
	}
	for _, f := range root.Files {
		if f.Name != remote.TaskFile {
			continue
		}
		content, _ := e.server.Blob(f.Digest.Hash)
		var t remote.Task
		if err := json.Unmarshal(content, &t); err != nil {
			return "", err
		}
		if t.Session == nil {
			return fmt.Sprintf("ask %q", t.Ask), nil
		}
		return fmt.Sprintf("state %v, %d inputs", t.Session.State, len(t.Session.Inputs)), nil
	}
	return "", fmt.Errorf("an action without %s", remote.TaskFile)
}

// really executes an action on this machine.
func (e *engine) really(action *execution.Action, command *execution.Command) (*execution.ActionResult, error) {
	dir, err := os.MkdirTemp("", "fevalgraph-action-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := e.place(action.InputRootDigest, dir); err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(dir, command.Arguments[0]), command.Arguments[1:]...)
	cmd.Dir = dir
	for _, v := range command.EnvironmentVariables {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%q: %w\n%s", command.Arguments, err, said.Bytes())
	}
	made := new(execution.ActionResult)
	for _, path := range command.OutputPaths {
		content, err := os.ReadFile(filepath.Join(dir, path))
		if err == nil { // directories are large results, which these are not
			made.OutputFiles = append(made.OutputFiles, &execution.OutputFile{Path: path, Digest: e.server.Put(content)})
		}
	}
	return made, nil
}

func (e *engine) place(d *execution.Digest, dir string) error {
	content, _ := e.server.Blob(d.Hash)
	directory := new(execution.Directory)
	if err := proto.Unmarshal(content, directory); err != nil {
		return err
	}
	for _, f := range directory.Files {
		mode := os.FileMode(0o644)
		if f.IsExecutable {
			mode = 0o755
		}
		content, _ := e.server.Blob(f.Digest.Hash)
		if err := os.WriteFile(filepath.Join(dir, f.Name), content, mode); err != nil {
			return err
		}
	}
	for _, sub := range directory.Directories {
		below := filepath.Join(dir, sub.Name)
		if err := os.Mkdir(below, 0o755); err != nil {
			return err
		}
		if err := e.place(sub.Digest, below); err != nil {
			return err
		}
	}
	return nil
}
