package worker_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/backend/local/isolation"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
)

// streamed is a backend whose sessions run at the other end of two pipes.
type streamed struct {
	backend.Backend
	store cache.Store
	dir   string
	serve worker.OpenFunc
}

type streamedSession struct {
	*worker.Stream
	end func() error
}

func (s *streamedSession) Close(context.Context) error { return s.end() }

func (b *streamed) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	requests, ask := io.Pipe()
	answers, answer := io.Pipe()
	served := make(chan error, 1)
	go func() {
		var session backend.Session
		err := worker.ServeStream(context.Background(), requests, answer, b.dir, func(ctx context.Context, store cache.Store, spec backend.Spec) (_ backend.Session, err error) {
			session, err = b.serve(ctx, store, spec)
			return session, err
		})
		if session != nil {
			err = errors.Join(err, session.Close(context.Background()))
		}
		answer.Close()
		served <- err
	}()
	stream, err := worker.OpenStream(ctx, answers, ask, b.store, spec)
	s := &streamedSession{stream, sync.OnceValue(func() error { ask.Close(); return <-served })}
	if err != nil {
		return nil, errors.Join(err, s.end())
	}
	return s, nil
}

func openStreamed(t *testing.T) (backend.Backend, cache.Store) {
	store := cache.NewMemory()
	o := local.Options{Lifecycle: local.Lifecycle{Scratch: filepath.Join(t.TempDir(), "s")}, Probes: local.Probes{Path: backendtest.Path}, Confinement: local.Confinement{Isolation: string(isolation.None)}}
	serve := func(ctx context.Context, store cache.Store, spec backend.Spec) (backend.Session, error) {
		return local.New(store, o).Open(ctx, spec)
	}
	return &streamed{Backend: local.New(store, o), store: store, dir: filepath.Join(t.TempDir(), "blobs"), serve: serve}, store
}

// TestStreamed runs the tests of package backendtest that a stream supports.
func TestStreamed(t *testing.T) { // not in parallel, as it measures the memory of the process
	backendtest.TestFiles(t, openStreamed)
	backendtest.TestPrograms(t, openStreamed)
}

// A stream that ends in the middle of a call does not answer it.
func TestStreamBreaks(t *testing.T) {
	answers, answer := io.Pipe()
	requests, ask := io.Pipe()
	open := func(context.Context, cache.Store, backend.Spec) (backend.Session, error) {
		return waiting{started: func() { answer.Close() }}, nil
	}
	served := make(chan error, 1)
	go func() { served <- worker.ServeStream(context.Background(), requests, answer, t.TempDir(), open) }()
	s, err := worker.OpenStream(t.Context(), answers, ask, cache.NewMemory(), backend.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	broken := (*worker.BrokenError)(nil)
	for range 2 {
		if exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"x"}}); !errors.As(err, &broken) {
			t.Errorf("%+v, %v", exit, err)
		}
	}
	ask.Close() // and that is the end of the call
	select {
	case <-served:
	case <-time.After(time.Minute):
		t.Error("the other end serves on")
	}
}

// An answer without an end breaks the stream, and takes no memory without a bound.
func TestStreamFlooded(t *testing.T) {
	frame := append([]byte("m\x00\x00\x40\x00"), make([]byte, 16<<10)...)
	flood := &repeated{text: frame}
	broken := (*worker.BrokenError)(nil)
	if _, err := worker.OpenStream(t.Context(), flood, io.Discard, cache.NewMemory(), backend.Spec{}); !errors.As(err, &broken) {
		t.Errorf("got %v", err)
	}
	if flood.read > 65<<20 {
		t.Errorf("%d bytes were read of an answer", flood.read)
	}
}

// A list without an end does the same.
func TestStreamFloodedList(t *testing.T) {
	frame := append([]byte("d\x00\x00\x40\x00"), make([]byte, 16<<10)...)
	flood := &repeated{text: frame}
	s, err := worker.OpenStream(t.Context(), io.MultiReader(strings.NewReader("r\x00\x00\x00\x02{}"), flood), io.Discard, cache.NewMemory(), backend.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	broken := (*worker.BrokenError)(nil)
	if _, err := s.List(t.Context(), "logs", 10); !errors.As(err, &broken) {
		t.Errorf("got %v", err)
	}
	if flood.read > 65<<20 {
		t.Errorf("%d bytes were read of a list", flood.read)
	}
}

// repeated reads a text repeatedly, up to a size that no reader should reach.
type repeated struct {
	text []byte
	read int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.read > 256<<20 {
		return 0, io.EOF
	}
	n := copy(p, r.text[r.read%len(r.text):])
	r.read += n
	return n, nil
}

// waiting is a session whose command ends with its context.
type waiting struct {
	backend.Session
	started func()
}

func (waiting) Dir() string { return "/" }
func (w waiting) Exec(ctx context.Context, _ backend.Command) (backend.Exit, error) {
	w.started()
	<-ctx.Done()
	return backend.Exit{}, context.Cause(ctx)
}

// Any data from a hostile peer results in an error or an answer, with memory in proportion to the data.
func FuzzStream(f *testing.F) {
	var good bytes.Buffer
	_, _ = worker.OpenStream(context.Background(), bytes.NewReader(nil), &good, cache.NewMemory(), backend.Spec{Name: "x"})
	f.Add(good.Bytes())
	f.Add([]byte("r\x00\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := worker.OpenStream(context.Background(), bytes.NewReader(text), io.Discard, cache.NewMemory(), backend.Spec{})
		if err == nil {
			_, err = s.Exec(context.Background(), backend.Command{Argv: []string{"x"}})
			_, _ = s.List(context.Background(), "d", 10)
		}
		_ = err
		open := func(context.Context, cache.Store, backend.Spec) (backend.Session, error) {
			return nil, errors.New("no")
		}
		_ = worker.ServeStream(context.Background(), bytes.NewReader(text), io.Discard, t.TempDir(), open)
	})
}
