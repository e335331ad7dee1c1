//go:build unix

package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// counting counts the calls of a server.
type counting struct {
	cache.Store
	mu      sync.Mutex
	damaged map[cache.Digest]int // reads that return other bytes
	opened  map[cache.Digest]int
}

func (s *counting) Open(ctx context.Context, d cache.Digest) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened == nil {
		s.opened = map[cache.Digest]int{}
	}
	s.opened[d]++
	if s.damaged[d] > 0 {
		s.damaged[d]--
		return io.NopCloser(bytes.NewReader(bytes.Repeat([]byte{'x'}, int(d.Size)))), nil
	}
	return s.Store.Open(ctx, d)
}

// forgetful is a store that can lose blobs.
type forgetful struct {
	cache.Store
	mu   sync.Mutex
	lost map[cache.Digest]bool
	asks int // of Has
}

func (s *forgetful) lose(d cache.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = map[cache.Digest]bool{d: true}
}

func (s *forgetful) Put(ctx context.Context, r io.Reader) (cache.Digest, error) {
	d, err := s.Store.Put(ctx, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.lost, d)
	return d, err
}

func (s *forgetful) Has(ctx context.Context, d cache.Digest) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks++
	if s.lost[d] {
		return false, nil
	}
	return s.Store.Has(ctx, d)
}

func (s *forgetful) Open(ctx context.Context, d cache.Digest) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost[d] {
		return nil, &cache.MissingError{Digest: d}
	}
	return s.Store.Open(ctx, d)
}

// storeTree stores a tree of files in a store.
func storeTree(t *testing.T, store cache.Store, n int) (tree cache.Digest, one cache.Digest) {
	t.Helper()
	var files []cache.Entry
	for i := range n {
		blob, err := cache.PutBytes(t.Context(), store, fmt.Appendf(nil, "file %d", i))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, cache.Entry{Path: fmt.Sprintf("f%06d", i), Digest: blob})
		one = blob
	}
	made, err := cache.BuildTree(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, directory := range made.Blobs {
		if _, err := cache.PutBytes(t.Context(), store, directory); err != nil {
			t.Fatal(err)
		}
	}
	return made.Root, one
}

func opened(c *worker.Client, tree cache.Digest) error {
	s, err := c.Backend().Open(context.Background(), backend.Spec{Inputs: []backend.Input{{Tree: tree}}})
	if err != nil {
		return err
	}
	return s.Close(context.Background())
}

// TestManyFiles sends a tree in two requests, and only once.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	files := longtest.Size(1000, 5000)
	there, here := &forgetful{Store: cache.NewMemory()}, cache.NewMemory()
	tree, one := storeTree(t, here, files)
	o, _ := serve(t, worker.Host{Store: there, Backend: fake.New(there, nil)})
	o, l := lineTo(o)
	written := &tally{}
	dial := l.dial
	l.dial = func(ctx context.Context) (net.Conn, error) {
		c, err := dial(ctx)
		return &tallied{c, written}, err
	}
	c := connect(t, here, o)
	before := written.count()
	errs := make(chan error)
	for range 3 { // side by side
		go func() { errs <- opened(c, tree) }()
	}
	for range 3 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	if there.asks != files+1 {
		t.Errorf("%d blobs were requested from the server", there.asks)
	}
	sent := c.Sent()
	if size := int64(files*len("file 0000")) + tree.Size; sent < size-10_000 || sent > size {
		t.Errorf("%d bytes of blobs were sent", sent)
	}
	// A request for each file would be a separate record.
	if n := written.count() - before; n > files*2/5 {
		t.Errorf("the client wrote %d times", n)
	}
	second := connect(t, here, o)
	if err := opened(second, tree); err != nil || second.Sent() != 0 || there.asks != 2*(files+1) {
		t.Errorf("a client that was started again: %v, %d bytes, %d asks", err, second.Sent(), there.asks)
	}
	there.lose(one)
	if err := opened(second, tree); err != nil || second.Sent() != one.Size {
		t.Errorf("a blob that the server lost: %v, %d bytes", err, second.Sent())
	}
}

type tally struct {
	mu sync.Mutex
	n  int
}

func (t *tally) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}

// tallied counts writes.
type tallied struct {
	net.Conn
	t *tally
}

func (c *tallied) Write(p []byte) (int, error) {
	c.t.mu.Lock()
	c.t.n++
	c.t.mu.Unlock()
	return c.Conn.Write(p)
}

func TestDamagedBlobs(t *testing.T) {
	t.Parallel()
	there, here := cache.NewMemory(), &counting{Store: cache.NewMemory()}
	tree, one := storeTree(t, here, 3)
	o, _ := serve(t, worker.Host{Store: there, Backend: fake.New(there, nil)})
	c := connect(t, here, o)
	here.damaged = map[cache.Digest]int{one: 1}
	if err := opened(c, tree); err != nil || here.opened[one] != 2 {
		t.Errorf("a blob that was damaged once: %v, read %d times", err, here.opened[one])
	}
	other, blob := storeTree(t, here, 20)
	here.damaged = map[cache.Digest]int{blob: 1000}
	here.opened = nil
	missing := (*cache.MissingError)(nil)
	if err := opened(c, other); !errors.As(err, &missing) || missing.Digest != blob || here.opened[blob] != 2 {
		t.Errorf("a blob that is always damaged: %v, read %d times", err, here.opened[blob])
	}

	gone := &forgetful{Store: cache.NewMemory()}
	tree, one = storeTree(t, gone, 40)
	gone.lose(one)
	c = connect(t, gone, o)
	if err := opened(c, tree); !errors.As(err, &missing) || missing.Digest != one {
		t.Errorf("a blob that is missing here: %v", err)
	}
}

// TestOneUnreadable: nodes that start together share a stream, but an unreadable blob fails only its own node.
func TestOneUnreadable(t *testing.T) {
	t.Parallel()
	there, here := cache.NewMemory(), &forgetful{Store: cache.NewMemory()}
	o, _ := serve(t, worker.Host{Store: there, Backend: fake.New(there, nil)})
	c := connect(t, here, o)
	trees := make([]cache.Digest, 20)
	for i := range trees {
		trees[i], _ = storeTree(t, here, 10+i)
	}
	bad, lost := storeTree(t, here, 100)
	here.lose(lost)
	var group sync.WaitGroup
	for _, tree := range trees {
		group.Go(func() {
			if err := opened(c, tree); err != nil {
				t.Errorf("next to a blob that is missing here: %v", err)
			}
		})
		group.Go(func() {
			var missing *cache.MissingError
			if err := opened(c, bad); !errors.As(err, &missing) || missing.Digest != lost {
				t.Errorf("a blob that is missing here: %v", err)
			}
		})
	}
	group.Wait()
}

// slowReader takes its time: it waits for the test at first.
type slowReader struct {
	start <-chan struct{}
	n     int64
}

func (s *slowReader) Write(p []byte) (int, error) {
	<-s.start
	s.n += int64(len(p))
	return len(p), nil
}

// TestMuchOutput: a command prints a lot to a slow client.
func TestMuchOutput(t *testing.T) {
	const size = 200 << 20
	printed := make(chan int64, size/(64<<10)+1)
	b := fake.New(cache.NewMemory(), func(_ context.Context, c *fake.Call) (backend.Exit, error) {
		block := make([]byte, 64<<10)
		for n := 0; n < size; n += len(block) {
			if _, err := c.Command.Output.Write(block); err != nil {
				return backend.Exit{}, err
			}
			printed <- int64(len(block))
		}
		return backend.Exit{Code: 4}, nil
	})
	o, _ := serve(t, worker.Host{Store: cache.NewMemory(), Backend: b})
	s := open(t, connect(t, cache.NewMemory(), o), "a")
	defer s.Close(t.Context())
	start := make(chan struct{})
	out := &slowReader{start: start}
	done := make(chan error, 1)
	go func() {
		exit, err := s.Exec(context.Background(), backend.Command{Argv: []string{"x"}, Output: out})
		if err == nil && exit.Code != 4 {
			err = fmt.Errorf("%+v", exit)
		}
		done <- err
	}()
	var n int64
	for n < 30<<20 { // it runs ahead of its reader
		n += <-printed
	}
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if before.HeapAlloc > 60<<20 {
		t.Errorf("%d bytes of memory hold what is not read", before.HeapAlloc)
	}
	close(start)
	if err := <-done; err != nil || out.n != size {
		t.Errorf("%d bytes arrived, %v", out.n, err)
	}
}

// TestUnread: a command prints a lot while its client is away, so how it would have ended is unknown.
func TestUnread(t *testing.T) {
	t.Parallel()
	began, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	b := fake.New(cache.NewMemory(), func(_ context.Context, c *fake.Call) (backend.Exit, error) {
		defer close(ended)
		close(began)
		<-goOn
		block := make([]byte, 1<<20)
		for range 100 {
			if _, err := c.Command.Output.Write(block); err != nil {
				break // as a shell continues when cat fails
			}
		}
		return backend.Exit{Code: 0}, nil
	})
	o, _ := serve(t, worker.Host{Store: cache.NewMemory(), Backend: b})
	o, l := lineTo(o)
	s := open(t, connect(t, cache.NewMemory(), o), "a")
	done := make(chan error, 1)
	go func() {
		exit, err := s.Exec(context.Background(), backend.Command{Argv: []string{"x"}})
		if err == nil {
			err = fmt.Errorf("a verdict: %+v", exit)
		}
		done <- err
	}()
	<-began
	l.cut(true)
	close(goOn)
	<-ended
	l.cut(false)
	lost := (*backend.PreemptedError)(nil)
	if err := <-done; !errors.As(err, &lost) || !strings.Contains(err.Error(), "had to wait to print") {
		t.Errorf("got %v", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestSandboxIsSupplied runs programs whose input the server lost, and fetches their outputs.
func TestSandboxIsSupplied(t *testing.T) {
	t.Parallel()
	there, here := &forgetful{Store: cache.NewMemory()}, cache.NewMemory()
	o, _ := serve(t, worker.Host{Store: there, Backend: fake.New(there, nil), Sandbox: fake.NewSandbox(there, func(_ context.Context, p *fake.Process) (backend.Ending, error) {
		_, err := io.Copy(p.Output, io.MultiReader(p.Input, strings.NewReader(strings.Repeat("!", 300<<10))))
		return backend.Ending{}, err
	})})
	c := connect(t, here, o)
	in, err := cache.PutBytes(t.Context(), here, []byte("hello"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		endings, err := c.Sandbox().Run(t.Context(), backend.Program{Argv: []string{"x"}, Files: []backend.File{{Path: "x", Content: []byte("a program")}}, Stdin: in, Limits: backend.Limits{Stdout: 1 << 20}})
		if err != nil {
			t.Fatal(err)
		}
		if has, err := here.Has(t.Context(), endings[0].Stdout); err != nil || !has {
			t.Errorf("run %d: its output did not come: %v", i, err)
		}
		there.lose(in)
	}
	if c.Sent() != 2*in.Size {
		t.Errorf("%d bytes were sent", c.Sent())
	}
}
