package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
)

// compareCold measures a graph of commands without effect, which all run.
func compareCold(o options) (*figures, error) {
	dir, err := os.MkdirTemp(o.work, "cold-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	edges := make([]edge, o.nodes)
	for i := range edges {
		edges[i].out = fmt.Sprintf("out/%03d/%06d", i/1000, i)
	}
	f := &figures{name: o.name, nodes: o.nodes, what: fmt.Sprintf("commands `true`, %d at once", o.jobs)}
	var ninja string
	f.contenders = []*contender{
		{name: "fevalgraph", run: func(round int) (time.Duration, *syscall.Rusage, error) {
			return command(dir, os.Environ(), self, "engine-cold", "-nodes", fmt.Sprint(o.nodes), "-j", fmt.Sprint(o.jobs), filepath.Join(dir, fmt.Sprint("f", round)))
		}},
		{name: "ninja", run: func(round int) (time.Duration, *syscall.Rusage, error) {
			ninja = filepath.Join(dir, fmt.Sprint("n", round))
			if err := os.MkdirAll(ninja, 0o755); err != nil {
				return 0, nil, err
			}
			if err := writeNinja(filepath.Join(ninja, "build.ninja"), "true > $out", edges); err != nil {
				return 0, nil, err
			}
			return command(ninja, os.Environ(), "ninja", "--quiet", fmt.Sprint("-j", o.jobs))
		}},
		{name: "fork loop", run: func(int) (time.Duration, *syscall.Rusage, error) {
			took, err := forkLoop(o.nodes, o.jobs)
			return took, nil, err
		}},
		{name: "lstat loop", run: func(int) (time.Duration, *syscall.Rusage, error) {
			if ninja == "" {
				return 0, nil, nil // it was first in the round that does not count
			}
			files := make([]string, len(edges))
			for i, e := range edges {
				files[i] = e.out
			}
			took, err := lstatLoop(ninja, files)
			return took, nil, err
		}},
	}
	f.leaveOut(o.skip)
	return f, f.measure(o.runs, nil)
}

// coldChild executes a graph of commands with an empty store, and fails unless all of them ran.
func coldChild(args []string) error {
	flags := flag.NewFlagSet("engine-cold", flag.ExitOnError)
	nodes := flags.Int("nodes", 1000, "")
	jobs := flags.Int("j", runtime.NumCPU(), "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir := flags.Arg(0)
	store, err := cache.OpenDisk(filepath.Join(dir, "store"), cache.Options{})
	if err != nil {
		return err
	}
	registry, err := backend.OpenRegistry(filepath.Join(dir, "state", "sessions"), "bench")
	if err != nil {
		return err
	}
	recorder, err := event.NewRecorder(event.Records{Dir: filepath.Join(dir, "state")}, "bench")
	if err != nil {
		return err
	}
	local.SpareProcessor() // as `fevalgraph run` does
	b := local.New(store, local.Options{Probes: local.Probes{Path: os.Getenv("PATH")}, Lifecycle: local.Lifecycle{Scratch: filepath.Join(dir, "scratch"), Registry: registry, Spares: *jobs}, Confinement: local.Confinement{Isolation: "none"}})
	g := graph.New()
	targets := make([]graph.ID, *nodes)
	for i := range targets {
		targets[i] = g.Add(graph.Node{Addr: fmt.Sprintf("command:%06d", i), Kind: "command", Task: &trivial{b, i}})
	}
	rep, err := g.Execute(context.Background(), targets, graph.Options{Store: store, Locker: store, Run: "bench",
		Sink: recorder, Pools: map[string]int{graph.CPUPool: *jobs}})
	if err != nil {
		return err
	}
	if rep.Executed != *nodes || rep.Failed+rep.Broken > 0 {
		return fmt.Errorf("executed %d, failed %d, broken %d of %d nodes", rep.Executed, rep.Failed, rep.Broken, *nodes)
	}
	return errors.Join(recorder.Close(), b.Close(context.Background()), registry.Close())
}

// trivial is the task of a command without effect, with a number.
type trivial struct {
	backend backend.Backend
	n       int
}

// Describe implements graph.Task.
func (t *trivial) Describe(_ context.Context, m *graph.Manifest) error {
	m.Strings("argv", []string{"true"})
	m.Int("number", int64(t.n))
	return nil
}

// Run implements graph.Task.
func (t *trivial) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	session, err := t.backend.Open(ctx, backend.Spec{Name: w.Addr})
	if err != nil {
		return graph.Outcome{}, err
	}
	defer session.Close(context.WithoutCancel(ctx))
	exit, err := session.Exec(ctx, backend.Command{Argv: []string{"true"}})
	if err != nil {
		return graph.Outcome{}, err
	}
	d, err := cache.PutBytes(ctx, w.Store, []byte(w.Addr+" exit "+strconv.Itoa(exit.Code)))
	if err != nil {
		return graph.Outcome{}, err
	}
	return graph.Outcome{Outputs: []cache.Output{{Name: "exit", Digest: d}}}, nil
}
