package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/docker"
	"github.com/fevalgraph/fevalgraph/cache"
)

// How large the trees of a session are: like a small problem's.
const (
	treeFiles = 12
	fileBytes = 2 << 10
)

// sessions opens one session after the other, as a run does.
type sessions struct {
	plan     plan
	dir      string
	registry *backend.Registry
	backend  *docker.Backend
	work     []backend.Input
	tests    []backend.Input
}

func openSessions(p plan, d *docker.Daemon) (*sessions, error) {
	dir, err := os.MkdirTemp("", "fevalgraph-bench-")
	if err != nil {
		return nil, err
	}
	registry, err := backend.OpenRegistry(filepath.Join(dir, "sessions"), "bench")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	o := docker.Options{
		Image: p.Image, Network: p.Network, Pull: docker.PullNever,
		Scratch: filepath.Join(dir, "scratch"), Registry: registry, Project: "bench", Run: "bench",
	}
	return &sessions{plan: p, dir: dir, registry: registry, backend: docker.New(cache.NewMemory(), d, o), work: tree("work"), tests: tree("tests")}, nil
}

// tree is files of a directory.
func tree(dir string) []backend.Input {
	var inputs []backend.Input
	for i := range treeFiles {
		content := []byte(strings.Repeat("#", fileBytes-1) + "\n")
		inputs = append(inputs, backend.Input{Path: fmt.Sprintf("%s/file_%d.py", dir, i), Content: content})
	}
	return inputs
}

// run does once what a cell does.
func (s *sessions) run(ctx context.Context, took *series) (err error) {
	took.begin()
	session, err := s.backend.Open(ctx, backend.Spec{Name: "bench", Inputs: s.work})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close(ctx)) }() // that it is closed already is no error
	took.step("open")
	if err := session.Place(ctx, s.tests...); err != nil {
		return err
	}
	took.step("place")
	exit, err := session.Exec(ctx, backend.Command{Argv: s.plan.Command, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}, Output: io.Discard})
	if err != nil {
		return err
	}
	if exit.Code != 0 {
		return fmt.Errorf("the command of a session ended with %d", exit.Code)
	}
	took.step("exec")
	report, err := session.Collect(ctx, s.tests[0].Path)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, report)
	if err := errors.Join(err, report.Close()); err != nil {
		return err
	}
	took.step("collect")
	if err := session.Close(ctx); err != nil {
		return err
	}
	took.step("close")
	took.end()
	return nil
}

func (s *sessions) close() error {
	return errors.Join(s.backend.Close(context.Background()), s.registry.Close(), os.RemoveAll(s.dir))
}
