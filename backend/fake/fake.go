// Package fake is a backend, and a sandbox, that run Go functions instead of programs and keep files in
// memory. Tests of other packages use them to define the effects of commands, to count commands, and to
// inject failures.
//
// It implements the contract of package backend for inputs, Collect, limits and cancellation, without
// processes, PATH or permissions.
package fake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Dir is the workspace of every session.
const Dir = "/fake-workspace"

// Call is a command as its program sees it.
type Call struct {
	Spec    backend.Spec
	Command backend.Command // Output is never nil
	Files   *Files          // the session's workspace; writes stay
}

// Program implements commands. An error means broken. ctx ends with Command.Timeout; a program that returns
// after that has timed out, whatever it returned.
type Program func(ctx context.Context, c *Call) (backend.Exit, error)

// Backend implements backend.Backend. The exported fields are set before use.
type Backend struct {
	Ident    backend.Identity         // what Identity returns
	Net      backend.Network          // what Network returns
	Can      backend.Capabilities     // what Capabilities returns
	OnOpen   func(backend.Spec) error // breaks Open; nil never does
	OnClose  func(backend.Spec) error // breaks Close; nil never does
	OnVerify func(backend.Spec) error // fails Verify; nil never does

	store   cache.Store
	program Program

	mu     sync.Mutex
	opens  int
	closes int
	calls  []Call
}

var _ backend.Backend = (*Backend)(nil)

// New returns a backend whose inputs come from store and whose commands all run program; a nil program
// exits with 0.
func New(store cache.Store, program Program) *Backend {
	if program == nil {
		program = func(context.Context, *Call) (backend.Exit, error) { return backend.Exit{}, nil }
	}
	return &Backend{
		Ident: backend.Identity{{Label: "platform", Value: "fake"}},
		Net:   backend.PrivateNetwork,
		store: store, program: program,
	}
}

// Identity returns b.Ident.
func (b *Backend) Identity(ctx context.Context) (backend.Identity, error) {
	return slices.Clone(b.Ident), context.Cause(ctx)
}

// Network returns b.Net. Programs are functions and listen on no ports, so nothing waits for one.
func (b *Backend) Network() backend.Network { return b.Net }

// Capabilities returns b.Can.
func (b *Backend) Capabilities() backend.Capabilities { return b.Can }

// Opens returns how many sessions were opened.
func (b *Backend) Opens() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.opens
}

// Execs returns how many commands were started.
func (b *Backend) Execs() int { return len(b.Calls()) }

// Closes returns how many sessions were closed; each counts once.
func (b *Backend) Closes() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closes
}

// Calls returns every command started so far, in order.
func (b *Backend) Calls() []Call {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.calls)
}

// Prepare implements backend.Backend. It opens and closes a session.
func (b *Backend) Prepare(ctx context.Context, _ string, cmd backend.Command) (snapshot string, exit backend.Exit, err error) {
	exit, err = backend.PrepareShared(ctx, b, cmd)
	return "", exit, err
}

// Open implements backend.Backend.
func (b *Backend) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	s := &session{b: b, spec: spec, files: &Files{}}
	if err := s.Place(ctx, spec.Inputs...); err != nil {
		return nil, fmt.Errorf("opening session: %w", err)
	}
	if b.OnOpen != nil {
		if err := b.OnOpen(spec); err != nil {
			return nil, fmt.Errorf("opening session: %w", err)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opens++
	return s, nil
}

// session implements backend.Session.
type session struct {
	b      *Backend
	spec   backend.Spec
	files  *Files
	closed bool
}

func (s *session) Dir() string { return Dir }

// Place implements backend.Session.
func (s *session) Place(ctx context.Context, inputs ...backend.Input) error {
	if s.closed {
		return fmt.Errorf("placing inputs: session: %w", fs.ErrClosed)
	}
	for _, in := range inputs {
		if err := s.files.place(ctx, s.b.store, in); err != nil {
			return fmt.Errorf("placing input %q: %w", in.Path, err)
		}
	}
	return nil
}

func (s *session) Exec(ctx context.Context, cmd backend.Command) (backend.Exit, error) {
	if err := context.Cause(ctx); err != nil {
		return backend.Exit{}, err
	}
	if s.closed {
		return backend.Exit{}, fmt.Errorf("running a command: session: %w", fs.ErrClosed)
	}
	if len(cmd.Argv) == 0 || cmd.Argv[0] == "" {
		return backend.Exit{}, errors.New("running a command: no program is specified")
	}
	if cmd.Output == nil {
		cmd.Output = io.Discard
	}
	call := Call{Spec: s.spec, Command: cmd, Files: s.files}
	s.b.mu.Lock()
	s.b.calls = append(s.b.calls, call)
	s.b.mu.Unlock()

	limited, cancel := ctx, context.CancelFunc(func() {})
	if cmd.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, cmd.Timeout)
	}
	defer cancel()
	start := time.Now()
	exit, err := s.b.program(limited, &call)
	switch {
	case ctx.Err() != nil:
		return backend.Exit{}, context.Cause(ctx)
	case limited.Err() != nil:
		exit, err = backend.Exit{Code: -1, Signal: "killed", TimedOut: true}, nil
	}
	if exit.Seconds == 0 {
		exit.Seconds = time.Since(start).Seconds()
	}
	return exit, err
}

func (s *session) Collect(ctx context.Context, path string) (io.ReadCloser, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if s.closed {
		return nil, fmt.Errorf("collecting %q: %w", path, fs.ErrClosed)
	}
	r, err := s.files.open(path)
	if err != nil {
		return nil, fmt.Errorf("collecting %q: %w", path, err)
	}
	return r, nil
}

func (s *session) Verify(context.Context) error {
	if s.b.OnVerify != nil {
		return s.b.OnVerify(s.spec)
	}
	return nil
}

func (s *session) Close(context.Context) error {
	if s.closed {
		return nil
	}
	if s.b.OnClose != nil {
		if err := s.b.OnClose(s.spec); err != nil {
			return fmt.Errorf("closing session: %w", err)
		}
	}
	s.closed = true
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	s.b.closes++
	return nil
}
