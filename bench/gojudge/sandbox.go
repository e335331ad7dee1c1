package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/gojudge"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Limits of both sides.
const (
	timeLimit   = 10 * time.Second
	memoryLimit = 256 << 20
	processes   = 16
	outputLimit = 16 << 20
)

// sandboxed judges through backend/gojudge.
type sandboxed struct {
	server *gojudge.Server
	box    *gojudge.Sandbox
	adder  cache.Digest
	cases  [inputs]cache.Digest
	want   [inputs]cache.Digest
}

// newSandboxed compiles the program, too, and returns its content.
func newSandboxed(ctx context.Context, p plan, dir string) (*sandboxed, []byte, error) {
	store, err := cache.OpenDisk(filepath.Join(dir, "store"), cache.Options{})
	if err != nil {
		return nil, nil, err
	}
	s := &sandboxed{server: gojudge.Start(store, gojudge.Process{Binary: p.Binary, Path: os.Getenv("PATH"), Parallelism: p.Parallelism, Scratch: filepath.Join(dir, "scratch")})}
	s.box = gojudge.New(s.server, gojudge.Options{})
	program, err := s.prepare(ctx, store)
	if err != nil {
		s.close()
		return nil, nil, err
	}
	return s, program, nil
}

func (s *sandboxed) prepare(ctx context.Context, store cache.Store) ([]byte, error) {
	ends, err := s.box.Run(ctx, backend.Program{
		Argv: []string{"/usr/bin/g++", "-O2", "-o", "a", "a.cc"}, Env: []string{"PATH=/usr/bin:/bin"},
		Files: []backend.File{{Path: "a.cc", Content: []byte(source)}}, Keep: []string{"a"},
		Limits: backend.Limits{CPU: time.Minute, Clock: 5 * time.Minute, Memory: 1 << 30, Processes: 64, Stdout: 1 << 20, Stderr: 1 << 20, Kept: 64 << 20},
	})
	if err != nil {
		return nil, err
	}
	if ends[0].Status != backend.Exited || ends[0].Code != 0 || len(ends[0].Kept) != 1 {
		return nil, fmt.Errorf("compiling the program: %s %d: %s", ends[0].Status, ends[0].Code, ends[0].Stderr)
	}
	s.adder = ends[0].Kept[0].Digest
	for i := range s.cases {
		if s.cases[i], err = cache.PutBytes(ctx, store, []byte(input(i))); err != nil {
			return nil, err
		}
		s.want[i] = cache.SumBytes([]byte(answer(i)))
	}
	return cache.ReadBlob(ctx, store, s.adder, -1)
}

func (s *sandboxed) judge(ctx context.Context, i int) error {
	ends, err := s.box.Run(ctx, backend.Program{
		Argv: []string{"a"}, Env: []string{"PATH=/usr/bin:/bin"}, Stdin: s.cases[i%inputs],
		Files:  []backend.File{{Path: "a", Digest: s.adder}},
		Limits: backend.Limits{CPU: timeLimit, Clock: 2 * timeLimit, Memory: memoryLimit, Processes: processes, Stdout: outputLimit, Stderr: outputLimit},
	})
	if err != nil {
		return err
	}
	if ends[0].Status != backend.Exited || ends[0].Code != 0 || ends[0].Stdout != s.want[i%inputs] {
		return fmt.Errorf("case %d ended with %+v", i, ends[0])
	}
	return nil
}

func (s *sandboxed) close() error { return s.server.Close() }
