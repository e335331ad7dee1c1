package fake_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/cache"
)

func TestConformance(t *testing.T) {
	backendtest.TestFiles(t, func(t *testing.T) (backend.Backend, cache.Store) {
		store := cache.NewMemory()
		return fake.New(store, nil), store
	})
}

func TestProgram(t *testing.T) {
	b := fake.New(cache.NewMemory(), func(ctx context.Context, c *fake.Call) (backend.Exit, error) {
		switch c.Command.Argv[0] {
		case "copy":
			in, err := c.Files.Read("in")
			if err != nil {
				return backend.Exit{}, err
			}
			c.Files.Write("d/out", in)
			_, err = io.WriteString(c.Command.Output, "copied\n")
			return backend.Exit{Code: 3}, err
		case "hang":
			<-ctx.Done()
			return backend.Exit{}, errors.New("unplugged")
		}
		return backend.Exit{}, errors.New("broken")
	})
	s, err := b.Open(t.Context(), backend.Spec{Inputs: []backend.Input{{Path: "in", Content: []byte("x")}}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"copy"}, Output: &out})
	if err != nil || exit.Code != 3 || out.String() != "copied\n" {
		t.Errorf("got %+v, %v, %q", exit, err, out.String())
	}
	r, err := s.Collect(t.Context(), "d/out")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "x" {
		t.Errorf("collected %q, %v", got, err)
	}
	if got := b.Calls()[0].Files.Names(); !slices.Equal(got, []string{"d/out", "in"}) {
		t.Errorf("files are %q", got)
	}
	exit, err = s.Exec(t.Context(), backend.Command{Argv: []string{"hang"}, Timeout: time.Millisecond})
	if err != nil || !exit.TimedOut {
		t.Errorf("timeout: %+v, %v", exit, err)
	}
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(time.Millisecond, func() { cancel(stop) })
	if _, err = s.Exec(ctx, backend.Command{Argv: []string{"hang"}}); !errors.Is(err, stop) {
		t.Errorf("cancel: %v", err)
	}
	if _, err = s.Exec(t.Context(), backend.Command{Argv: []string{"other"}}); err == nil {
		t.Error("no error")
	}
	if b.Opens() != 1 || b.Execs() != 4 || b.Closes() != 0 {
		t.Errorf("counted %d, %d, %d", b.Opens(), b.Execs(), b.Closes())
	}
	for range 2 {
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if b.Closes() != 1 {
		t.Errorf("counted %d closes", b.Closes())
	}
}
