package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
)

// bench records what happens in the workspaces of a plan.
type bench struct {
	box    *fake.Backend
	plan   Plan
	events []string
	work   graph.Work

	machine, input error                                                   // result of verification
	program        func(c *backend.Command, try int) (backend.Exit, error) // nil succeeds
}

func newBench() *bench {
	b := &bench{work: graph.Work{Addr: "node", Log: io.Discard}}
	b.box = fake.New(cache.NewMemory(), func(_ context.Context, c *fake.Call) (backend.Exit, error) {
		b.events = append(b.events, c.Command.Argv[len(c.Command.Argv)-1])
		if b.program == nil {
			return backend.Exit{}, nil
		}
		return b.program(&c.Command, b.box.Opens())
	})
	b.box.OnVerify = func(backend.Spec) error {
		b.events = append(b.events, "machine")
		return b.machine
	}
	b.plan = Plan{Backend: b.box, Spec: backend.Spec{Name: "node"}, VerifyInputs: []func() error{func() error {
		b.events = append(b.events, "inputs")
		return b.input
	}}}
	return b
}

func (b *bench) run(t *testing.T, do func(*Session) error) error {
	t.Helper()
	b.events = nil
	_, err := Run(t.Context(), &b.work, b.plan, func(s *Session) (graph.Outcome, error) { return graph.Outcome{}, do(s) })
	if b.box.Opens() != b.box.Closes() {
		t.Errorf("%d sessions opened, %d closed", b.box.Opens(), b.box.Closes())
	}
	return err
}

func execute(t *testing.T, p Program) func(*Session) error {
	p.Name, p.Argv = "the program", []string{"program"}
	return func(s *Session) error {
		_, err := s.Execute(t.Context(), p)
		return err
	}
}

// However a program ends, its outputs count only after the machine and then the inputs are verified.
func TestOrder(t *testing.T) {
	full, changed := errors.New("disk full"), errors.New("input changed")
	for _, exit := range []backend.Exit{{}, {Code: 1}, {Code: -1, Signal: "killed"}, {Code: -1, TimedOut: true}} {
		for _, trust := range []bool{false, true} {
			b := newBench()
			b.program = func(*backend.Command, int) (backend.Exit, error) { return exit, nil }
			verified := "program machine inputs"
			if trust && exit.Code == 0 {
				verified = "program inputs"
			}
			run := execute(t, Program{TrustSuccess: trust})
			if err := b.run(t, run); err != nil || strings.Join(b.events, " ") != verified {
				t.Errorf("%+v, trust %v: %v, %q", exit, trust, err, b.events)
			}
			b.input = changed
			if err := b.run(t, run); !errors.Is(err, changed) {
				t.Errorf("%+v, trust %v, input changed: %v", exit, trust, err)
			}
			b.machine = full
			if err := b.run(t, run); !errors.Is(err, full) != (trust && exit.Code == 0) {
				t.Errorf("%+v, trust %v, disk full: %v", exit, trust, err)
			}
		}
	}
}

// The work is done again once, in another workspace, and the second result counts.
func TestAgain(t *testing.T) {
	for tries, ask := range map[int]bool{1: false, 2: true} {
		b := newBench()
		err := b.run(t, func(s *Session) error {
			if ask {
				if err := s.Again("unclear"); err != nil {
					return fmt.Errorf("wrapped: %w", err)
				}
			}
			return errors.New("the end")
		})
		if b.box.Opens() != tries || err == nil || err.Error() != "the end" {
			t.Errorf("%d workspaces, want %d: %v", b.box.Opens(), tries, err)
		}
	}
}

// A set-up command that speaks of the network while the machine lacks nothing is run once more, and
// fails by its own doing then. This holds for each task that has set-up.
func TestSetUpUnclear(t *testing.T) {
	for fails, want := range map[int]string{0: "setup", 1: "setup probe setup", 2: "setup probe setup probe failed"} {
		b := newBench()
		setups := 0
		b.program = func(c *backend.Command, _ int) (backend.Exit, error) {
			if c.Argv[len(c.Argv)-1] != "setup" {
				b.events[len(b.events)-1] = "probe"
				return backend.Exit{}, nil
			}
			if setups++; setups <= fails {
				io.WriteString(c.Output, "connection refused")
				return backend.Exit{Code: 1}, nil
			}
			return backend.Exit{}, nil
		}
		err := b.run(t, func(s *Session) error {
			failed, err := s.SetUp(t.Context(), Step{Line: "setup"})
			if failed != nil {
				b.events = append(b.events, "failed")
			}
			return err
		})
		if got := strings.Join(b.events, " "); err != nil || got != want {
			t.Errorf("fails %d times: %q, want %q; %v", fails, got, want, err)
		}
	}
}

// Secrets are masked in the output, and nothing else changes: comparisons use the raw text.
func TestSecrets(t *testing.T) {
	b := newBench()
	b.plan.Env = Environment{{Name: "KEY", Value: "hush-hush", Secret: "key"}}
	b.program = func(c *backend.Command, _ int) (backend.Exit, error) {
		io.WriteString(c.Output, "out hush-")
		io.WriteString(c.Output, "hush")
		if c.Errors != nil {
			io.WriteString(c.Errors, "err hush-hush")
		}
		return backend.Exit{}, nil
	}
	for _, split := range []bool{false, true} {
		var ran Printed
		err := b.run(t, func(s *Session) (err error) {
			ran, err = s.Execute(t.Context(), Program{Split: split, Command: backend.Command{Argv: []string{"program"}}})
			return err
		})
		got := []string{string(ran.Output), string(ran.RawOutput)}
		want := []string{"out ***", "out hush-hush"}
		if split {
			got, want = append(got, string(ran.Errors), string(ran.RawErrors)), append(want, "err ***", "err hush-hush")
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("split %v: %q, want %q; %v", split, got, want, err)
		}
	}
}

func TestRead(t *testing.T) {
	b := newBench()
	err := b.run(t, func(s *Session) error {
		if err := s.Place(t.Context(), backend.Input{Path: "f", Content: []byte("1234")}); err != nil {
			return err
		}
		if content, err := Read(t.Context(), s, "f", 4); err != nil || string(content) != "1234" {
			t.Errorf("%q, %v", content, err)
		}
		if _, err := Read(t.Context(), s, "f", 3); !errors.Is(err, ErrLarge) {
			t.Errorf("of 3 bytes at most: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Programs can crowd out other work on the machine. If an attempt ran alone on a fit machine, that is the fault of its
// submission, if any.
func TestIsolated(t *testing.T) {
	full := errors.New("full")
	for name, c := range map[string]struct {
		submitted, alone bool
		err              error // of the program's session, after it ran
		before           error // and before
		want             string
		crowded          bool
	}{
		"next to others":           {true, false, backend.Spoiled(full), nil, "full", true},
		"alone":                    {true, true, backend.Spoiled(full), nil, "refused", false},
		"no longer":                {true, true, nil, nil, "", false},
		"unfit":                    {true, true, backend.Spoiled(full), backend.Spoiled(full), "the machine is not fit: full", false},
		"of no submission":         {false, true, backend.Spoiled(full), nil, "full", true},
		"by nothing that ran here": {true, false, full, nil, "full", false},
		"of the store":             {true, true, fmt.Errorf("storing: %w", syscall.ENOSPC), nil, "refused", false},
		"of this process":          {true, true, fmt.Errorf("starting: %w", syscall.EMFILE), nil, "starting: too many open files", true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			b.plan.Submitted, b.work.Isolated, b.work.Store = c.submitted, c.alone, cache.NewMemory()
			ran := false
			b.program = func(*backend.Command, int) (backend.Exit, error) {
				ran = true
				return backend.Exit{}, nil
			}
			b.box.OnVerify = func(backend.Spec) error {
				if ran {
					return c.err
				}
				return c.before
			}
			outcome, err := Run(t.Context(), &b.work, b.plan, func(s *Session) (graph.Outcome, error) {
				_, err := s.Execute(t.Context(), Program{Name: "program", Command: backend.Command{Argv: []string{"program"}}})
				return graph.Outcome{}, err
			})
			got := ""
			if err != nil {
				got = err.Error()
			} else if graph.Refused(outcome.Outputs) {
				got = "refused"
			}
			if !strings.Contains(got, c.want) || (got == "") != (c.want == "") || graph.IsCrowded(err) != c.crowded {
				t.Errorf("%q, crowded %v; want %q", got, graph.IsCrowded(err), c.want)
			}
		})
	}
}
