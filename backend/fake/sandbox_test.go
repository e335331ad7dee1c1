package fake_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/backendtest"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/cache"
)

// behave acts as Argv[1] names.
func behave(ctx context.Context, p *fake.Process) (backend.Ending, error) {
	switch p.Argv[1] {
	case "cat":
		_, _ = io.Copy(p.Output, p.Input)
		fmt.Fprint(p.Errors, "copied")
		return backend.Ending{Code: 3}, nil
	case "flood":
		for {
			if _, err := p.Output.Write(make([]byte, 100)); err != nil {
				return backend.Ending{}, nil
			}
		}
	case "wait":
		<-ctx.Done()
		return backend.Ending{}, errors.New("unplugged")
	case "compile":
		source, err := p.Dir.Read("a.cc")
		if err != nil {
			return backend.Ending{}, err
		}
		p.Dir.Write("a", bytes.ToUpper(source))
		return backend.Ending{CPU: time.Second}, nil
	case "ask":
		fmt.Fprintln(p.Output, "question")
		answer, _ := bufio.NewReader(p.Input).ReadString('\n')
		fmt.Fprint(p.Errors, answer)
		return backend.Ending{}, nil
	case "answer":
		question, _ := bufio.NewReader(p.Input).ReadString('\n')
		fmt.Fprint(p.Output, "answer to "+question)
		return backend.Ending{}, nil
	}
	return backend.Ending{}, errors.New("broken")
}

func program(what string) backend.Program {
	return backend.Program{Argv: []string{"/program", what},
		Limits: backend.Limits{Clock: 20 * time.Second, Stdout: 1000, Stderr: 4}}
}

func TestSandbox(t *testing.T) {
	store := cache.NewMemory()
	s := fake.NewSandbox(store, behave)
	run := func(programs ...backend.Program) []backend.Ending {
		t.Helper()
		ends, err := s.Run(t.Context(), programs...)
		if err != nil {
			t.Fatal(err)
		}
		return ends
	}
	content := func(d cache.Digest) string {
		t.Helper()
		b, err := cache.ReadBlob(t.Context(), store, d, -1)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	p := program("cat")
	p.Stdin, _ = cache.PutBytes(t.Context(), store, []byte("in\x00\xff"))
	end := run(p)[0]
	if end.Status != backend.Exited || end.Code != 3 || content(end.Stdout) != "in\x00\xff" || string(end.Stderr) != "copi" {
		t.Errorf("cat: %+v", end)
	}
	if end = run(program("flood"))[0]; end.Status != backend.OutputLimit || end.Stdout.Size != 1000 {
		t.Errorf("flood: %+v", end)
	}
	p = program("wait")
	p.Limits.Clock = time.Millisecond
	if end = run(p)[0]; end.Status != backend.ClockLimit {
		t.Errorf("wait: %+v", end)
	}
	p = program("compile")
	p.Files = []backend.File{{Path: "a.cc", Content: []byte("source")}}
	p.Keep = []string{"missing", "a"}
	if end = run(p)[0]; len(end.Kept) != 1 || end.Kept[0].Path != "a" || content(end.Kept[0].Digest) != "SOURCE" || end.CPU != time.Second {
		t.Errorf("compile: %+v", end)
	}
	p.Limits.Kept = 5
	if end = run(p)[0]; len(end.Kept) != 0 || end.Status != backend.OutputLimit {
		t.Errorf("too large a file: %+v", end)
	}
	ask, answer := program("ask"), program("answer")
	ask.StdinFrom, answer.StdinFrom, ask.Limits.Stderr = 2, 1, 1000
	ends := run(ask, answer)
	if string(ends[0].Stderr) != "answer to question\n" || !ends[0].Stdout.IsZero() {
		t.Errorf("pair: %+v", ends)
	}
	// Each waits for the other.
	first, second := program("answer"), program("answer")
	first.StdinFrom, second.StdinFrom, first.Limits.Clock = 2, 1, time.Millisecond
	if ends = run(first, second); ends[0].Status != backend.ClockLimit || ends[1].Status != backend.Exited {
		t.Errorf("deadlock: %+v", ends)
	}
	if got := len(s.Requests()); got != 7 {
		t.Errorf("counted %d requests", got)
	}
}

func TestSandboxBroken(t *testing.T) {
	s := fake.NewSandbox(cache.NewMemory(), behave)
	unplugged := errors.New("unplugged")
	s.OnRun = func(p []backend.Program) error {
		if len(p[0].Argv) > 0 && p[0].Argv[0] == "/unplugged" {
			return unplugged
		}
		return nil
	}
	missing := program("cat")
	missing.Stdin = cache.SumBytes([]byte("never stored"))
	nothing := program("cat")
	nothing.Argv = nil
	unnamed := program("cat")
	unnamed.Argv = []string{"a.out", "cat"}
	outside := program("cat")
	outside.Files = []backend.File{{Path: "../x"}}
	lonely := program("cat")
	lonely.StdinFrom = 2
	for name, p := range map[string]backend.Program{"unknown": program("?"), "input": missing, "argv": nothing, "file": unnamed, "path": outside, "pipe": lonely} {
		if ends, err := s.Run(t.Context(), p); err == nil {
			t.Errorf("%s: %+v", name, ends)
		}
	}
	p := program("cat")
	p.Argv[0] = "/unplugged"
	if _, err := s.Run(t.Context(), p); !errors.Is(err, unplugged) {
		t.Errorf("got %v", err)
	}
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(time.Millisecond, func() { cancel(stop) })
	if _, err := s.Run(ctx, program("wait")); !errors.Is(err, stop) {
		t.Errorf("cancel: %v", err)
	}
}

func TestSandboxConformance(t *testing.T) {
	backendtest.TestSandboxFiles(t, func(t *testing.T) (backend.Sandbox, cache.Store) {
		store := cache.NewMemory()
		return fake.NewSandbox(store, fake.Imitate), store
	})
}
