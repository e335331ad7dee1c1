package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// sha256Loop is the name of the comparison.
const sha256Loop = "sha256 loop"

// Files of new sources: large files have half of the bytes.
const (
	largeFile = 64 << 20
	smallFile = 256 << 10
)

// compareHash measures the description of sources that are in no index.
func compareHash(o options) (*figures, error) {
	if o.mib == 0 {
		o.mib = 2048
	}
	dir, err := os.MkdirTemp(o.work, "hash-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	half := int64(o.mib) << 19
	large, err := writeNoise(filepath.Join(dir, "sources", "large"), half, largeFile)
	if err != nil {
		return nil, err
	}
	small, err := writeNoise(filepath.Join(dir, "sources", "small"), half, smallFile)
	if err != nil {
		return nil, err
	}
	files := append(large, small...)
	jobs := fmt.Sprint(o.jobs)
	f := &figures{name: o.name, nodes: len(files), what: fmt.Sprintf("%d MiB of new sources, %s processors", o.mib, jobs)}
	f.contenders = []*contender{
		{name: "fevalgraph", run: func(round int) (time.Duration, *syscall.Rusage, error) {
			return command(dir, os.Environ(), self, "engine-hash", filepath.Join(dir, "sources"))
		}},
		{name: "and stored", run: func(round int) (time.Duration, *syscall.Rusage, error) {
			store := filepath.Join(dir, fmt.Sprint("store", round))
			defer os.RemoveAll(store)
			return command(dir, os.Environ(), self, "engine-hash", "-store", store, filepath.Join(dir, "sources"))
		}},
		{name: sha256Loop, run: func(int) (time.Duration, *syscall.Rusage, error) {
			took, err := hashLoop(files, o.jobs)
			return took, nil, err
		}},
		{name: "sha256sum", run: func(int) (time.Duration, *syscall.Rusage, error) {
			return command(dir, os.Environ(), "sh", "-c", "find sources -type f -print0 | xargs -0 -n 16 -P "+jobs+" sha256sum >sums")
		}},
	}
	f.leaveOut(o.skip)
	return f, f.measure(o.runs, nil)
}

// hashChild describes a source or, with -store, stores it.
func hashChild(args []string) error {
	flags := flag.NewFlagSet("engine-hash", flag.ExitOnError)
	dir := flags.String("store", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	states, err := cache.OpenFileIndex(filepath.Join(flags.Arg(0), "..", "no index"), proof.Place{})
	if err != nil {
		return err
	}
	if *dir == "" {
		source := tasks.NewMaterialize(tasks.Asset{Source: flags.Arg(0), Target: "sources"}, tasks.Sources{States: states})
		_, err := described(source)
		return err
	}
	store, err := cache.OpenDisk(*dir, cache.Options{})
	if err != nil {
		return err
	}
	source := tasks.NewMaterialize(tasks.Asset{Source: flags.Arg(0), Target: "sources"}, tasks.Sources{States: states, Store: store})
	if _, err := described(source); err != nil {
		return err
	}
	return source.PutFound(context.Background(), store)
}

// described returns the key of a node with the task.
func described(t graph.Task) (cache.Key, error) {
	g := graph.New()
	id := g.Add(graph.Node{Addr: "materialize:sources", Kind: "materialize", Task: t})
	store := cache.NewMemory()
	rep, err := g.Execute(context.Background(), []graph.ID{id}, graph.Options{Store: store, Preview: graph.Preview{DryRun: true}})
	if err != nil {
		return cache.Key{}, err
	}
	if key := rep.Status(id).Key; !key.IsZero() {
		return key, nil
	}
	return cache.Key{}, fmt.Errorf("nothing was described: %s", rep.Status(id).Message)
}

// hashLoop hashes the files, jobs at a time.
func hashLoop(files []string, jobs int) (time.Duration, error) {
	began := time.Now()
	var group errgroup.Group
	group.SetLimit(jobs)
	for _, name := range files {
		group.Go(func() error {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			h := sha256.New()
			_, err = io.CopyBuffer(h, struct{ io.Reader }{f}, make([]byte, 128<<10))
			return err
		})
	}
	err := group.Wait()
	return time.Since(began), err
}

// writeNoise fills a directory with files of size bytes, total bytes together.
func writeNoise(dir string, total, size int64) (names []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	noise := rand.NewChaCha8([32]byte([]byte(strings.Repeat("noise...", 4))))
	for ; total > 0; total -= size {
		name := filepath.Join(dir, strconv.Itoa(len(names)))
		f, err := os.Create(name)
		if err != nil {
			return nil, err
		}
		_, err = io.CopyN(f, noise, min(size, total))
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}
