package remote

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// compose encodes the messages of an action and returns its digest.
func (b *Backend) compose(w *actionSpec, timeout time.Duration) (cache.Digest, error) {
	if w.blobs == nil {
		w.blobs = reapi.Messages{}
	}
	program, err := b.files.digest(b.opt.Program)
	if err != nil {
		return cache.Digest{}, err
	}
	task := wire.Encode(&w.task)
	root := append(slices.Clone(w.entries),
		cache.Entry{Path: wire.ProgramFile, Digest: program, Executable: true}, cache.Entry{Path: wire.TaskFile, Digest: addBlob(w.blobs, task)})
	if w.judge {
		judge, err := b.files.digest(b.opt.Judge)
		if err != nil {
			return cache.Digest{}, err
		}
		root = append(root, cache.Entry{Path: wire.JudgeFile, Digest: judge, Executable: true})
	}
	tree, err := cache.BuildTree(root)
	if err != nil {
		return cache.Digest{}, err
	}
	for d, content := range tree.Blobs {
		w.blobs[d] = content
	}
	platform := &execution.Platform{}
	for _, p := range b.opt.Platform {
		platform.Properties = append(platform.Properties, &execution.Platform_Property{Name: p.Name, Value: p.Value})
	}
	command, err := w.blobs.Add(&execution.Command{
		Arguments:            []string{"./" + wire.ProgramFile, wire.Command},
		EnvironmentVariables: []*execution.Command_EnvironmentVariable{{Name: "PATH", Value: b.opt.Host.Path}},
		OutputPaths:          wire.OutputPaths,
		//lint:ignore SA1019 servers of version 2.1 and earlier read it here
		Platform: platform,
	})
	if err != nil {
		return cache.Digest{}, err
	}
	return w.blobs.Add(&execution.Action{
		CommandDigest: reapi.Digest(command), InputRootDigest: reapi.Digest(tree.Root), Timeout: durationpb.New(timeout), Platform: platform,
	})
}

func addBlob(m reapi.Messages, content []byte) cache.Digest {
	d := cache.SumBytes(content)
	m[d] = content
	return d
}

// platformText formats the platform for messages.
func (b *Backend) platformText() string {
	var words []string
	for _, p := range b.opt.Platform {
		words = append(words, p.Name+"="+p.Value)
	}
	return strings.Join(words, ",")
}

// supply uploads the content that an action needs and the server lacks.
func (b *Backend) supply(ctx context.Context, w *actionSpec) error {
	if err := b.opt.Sender.Outputs(ctx, b.opt.Store, w.needs...); err != nil {
		return err
	}
	var own []cache.Digest
	for d := range w.blobs {
		own = append(own, d)
	}
	if err := b.opt.Sender.Blobs(ctx, w.blobs, own...); err != nil {
		return err
	}
	for _, path := range []string{b.opt.Program, b.opt.Judge} {
		if path == "" || path == b.opt.Judge && !w.judge {
			continue
		}
		d, err := b.files.digest(path)
		if err == nil {
			err = b.opt.Sender.Blobs(ctx, b.files, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// files contains programs of this machine for actions. It is a cache.Source.
type files struct {
	mu    sync.Mutex
	paths map[string]cache.Digest
}

// digest returns the digest of a file, which it hashes only once.
func (f *files) digest(path string) (cache.Digest, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d, ok := f.paths[path]; ok {
		return d, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return cache.Digest{}, fmt.Errorf("reading the program of actions: %w", err)
	}
	defer file.Close()
	h := sha256.New()
	var d cache.Digest
	if d.Size, err = io.Copy(h, file); err != nil {
		return d, fmt.Errorf("reading the program of actions: %w", err)
	}
	h.Sum(d.Hash[:0])
	f.paths[path] = d
	return d, nil
}

// Open implements cache.Source.
func (f *files) Open(_ context.Context, d cache.Digest) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path, known := range f.paths {
		if known == d {
			return os.Open(path)
		}
	}
	return nil, &cache.MissingError{Digest: d}
}
