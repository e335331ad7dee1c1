package remotetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	rpc "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// Program runs the command of an action in a directory that has the input root. Its error is
// a failure of the worker.
type Program func(ctx context.Context, dir string, command *execution.Command) (exit int, stderr []byte, err error)

// Process returns the program that starts the command as a process, with more variables than
// the command's own.
func Process(env ...string) Program {
	return func(ctx context.Context, dir string, command *execution.Command) (int, []byte, error) {
		cmd := exec.CommandContext(ctx, filepath.Join(dir, command.Arguments[0]), command.Arguments[1:]...)
		cmd.Dir = dir
		for _, v := range command.EnvironmentVariables {
			cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
		}
		cmd.Env = append(cmd.Env, env...)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stderr, &stderr
		err := cmd.Run()
		if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
			return ended.ExitCode(), stderr.Bytes(), nil
		}
		return 0, stderr.Bytes(), err
	}
}

// Worker returns an engine whose actions are executed on this machine, each in a directory
// below scratch. Results that exit with 0 are entries of the server, as engines keep them.
func (s *Server) Worker(scratch string, run Program) Engine {
	return func(ctx context.Context, action *execution.Action, command *execution.Command) Outcome {
		result, err := s.Perform(ctx, scratch, action, command, run)
		if err != nil {
			return Outcome{Response: &execution.ExecuteResponse{Status: &rpc.Status{Code: int32(codes.Internal), Message: err.Error()}}}
		}
		if content, err := proto.Marshal(action); err == nil && result.ExitCode == 0 {
			s.SetEntry(s.Put(content).Hash, result)
		}
		return Outcome{Response: &execution.ExecuteResponse{Result: result}}
	}
}

// Perform executes one action in a directory below scratch and returns its result, whose
// blobs the server has then.
func (s *Server) Perform(ctx context.Context, scratch string, action *execution.Action, command *execution.Command, run Program) (*execution.ActionResult, error) {
	dir, err := os.MkdirTemp(scratch, "action-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := s.materialize(action.InputRootDigest, dir); err != nil {
		return nil, err
	}
	result := new(execution.ActionResult)
	exit, stderr, err := run(ctx, dir, command)
	if err != nil {
		return nil, fmt.Errorf("%q: %w\n%s", command.Arguments, err, stderr)
	}
	result.ExitCode, result.StderrRaw = int32(exit), stderr
	for _, name := range command.OutputPaths {
		switch info, err := os.Lstat(filepath.Join(dir, name)); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case info.IsDir():
			tree := new(execution.Tree)
			if tree.Root, err = s.keepDirectory(filepath.Join(dir, name), tree); err != nil {
				return nil, err
			}
			content, err := proto.Marshal(tree)
			if err != nil {
				return nil, err
			}
			result.OutputDirectories = append(result.OutputDirectories, &execution.OutputDirectory{Path: name, TreeDigest: s.Put(content)})
		default:
			content, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return nil, err
			}
			result.OutputFiles = append(result.OutputFiles, &execution.OutputFile{Path: name, Digest: s.Put(content)})
		}
	}
	return result, nil
}

// materialize writes a directory of the server to dir, which is empty.
func (s *Server) materialize(d *execution.Digest, dir string) error {
	directory := new(execution.Directory)
	content, _ := s.Blob(d.Hash)
	if err := proto.Unmarshal(content, directory); err != nil {
		return err
	}
	for _, f := range directory.Files {
		content, ok := s.Blob(f.Digest.Hash)
		if !ok && f.Digest.SizeBytes > 0 {
			return fmt.Errorf("%s: the server has no blob %s", path.Join(dir, f.Name), f.Digest.Hash)
		}
		mode := fs.FileMode(0o644)
		if f.IsExecutable {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name), content, mode); err != nil {
			return err
		}
	}
	for _, l := range directory.Symlinks {
		if err := os.Symlink(l.Target, filepath.Join(dir, l.Name)); err != nil {
			return err
		}
	}
	for _, sub := range directory.Directories {
		below := filepath.Join(dir, sub.Name)
		if err := os.Mkdir(below, 0o755); err != nil {
			return err
		}
		if err := s.materialize(sub.Digest, below); err != nil {
			return err
		}
	}
	return nil
}

// keepDirectory stores the files of an output directory, and adds what is below it to tree.
func (s *Server) keepDirectory(dir string, tree *execution.Tree) (*execution.Directory, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	directory := new(execution.Directory)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if e.IsDir() {
			below, err := s.keepDirectory(name, tree)
			if err != nil {
				return nil, err
			}
			content, err := proto.Marshal(below)
			if err != nil {
				return nil, err
			}
			tree.Children = append(tree.Children, below)
			directory.Directories = append(directory.Directories, &execution.DirectoryNode{Name: e.Name(), Digest: s.Put(content)})
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		directory.Files = append(directory.Files, &execution.FileNode{Name: e.Name(), Digest: s.Put(content)})
	}
	return directory, nil
}
