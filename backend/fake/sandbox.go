package fake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Behaviour implements a program of a Sandbox. An error means broken. Of the Ending it returns, Status,
// Code, Signal and the measurements count; the zero Status is Exited. ctx ends with Limits.Clock: a program
// that returns after that has reached the limit, whatever it returned.
type Behaviour func(ctx context.Context, p *Process) (backend.Ending, error)

// Process is a program of a Sandbox while it runs.
type Process struct {
	backend.Program
	Dir    *Files    // its directory; Keep is read from it afterwards
	Input  io.Reader // Stdin, or what the program of StdinFrom writes
	Output io.Writer // fails once Limits.Stdout is reached, or when its reader has ended
	Errors io.Writer // never fails; what is over Limits.Stderr is dropped
}

// Sandbox implements backend.Sandbox. The exported fields are set before use.
type Sandbox struct {
	Ident backend.Identity                       // what Identity returns
	OnRun func(programs []backend.Program) error // breaks Run; nil never does

	store   cache.Store
	behave  Behaviour
	mu      sync.Mutex
	request [][]backend.Program
}

var _ backend.Sandbox = (*Sandbox)(nil)

// NewSandbox returns a sandbox whose files are in store and whose programs all run behave; a nil behaviour
// exits with 0.
func NewSandbox(store cache.Store, behave Behaviour) *Sandbox {
	if behave == nil {
		behave = func(context.Context, *Process) (backend.Ending, error) { return backend.Ending{}, nil }
	}
	return &Sandbox{Ident: backend.Identity{{Label: "platform", Value: "fake"}}, store: store, behave: behave}
}

// Identity returns s.Ident.
func (s *Sandbox) Identity(ctx context.Context) (backend.Identity, error) {
	return slices.Clone(s.Ident), context.Cause(ctx)
}

// Requests returns the programs of every Run so far, in the order of their start, including runs that
// broke.
func (s *Sandbox) Requests() [][]backend.Program {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.request)
}

// Run implements backend.Sandbox.
func (s *Sandbox) Run(ctx context.Context, programs ...backend.Program) ([]backend.Ending, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.request = append(s.request, slices.Clone(programs))
	s.mu.Unlock()
	if s.OnRun != nil {
		if err := s.OnRun(programs); err != nil {
			return nil, fmt.Errorf("running in the sandbox: %w", err)
		}
	}
	running := make([]*process, len(programs))
	for i, p := range programs {
		var err error
		if running[i], err = s.load(ctx, p); err != nil {
			return nil, fmt.Errorf("running in the sandbox: program %d: %w", i, err)
		}
	}
	for i, p := range programs {
		if p.StdinFrom == 0 {
			continue
		}
		if p.StdinFrom < 0 || p.StdinFrom > len(programs) || running[p.StdinFrom-1].piped != nil {
			return nil, fmt.Errorf("running in the sandbox: program %d reads from program %d, which does not exist or is already read", i, p.StdinFrom-1)
		}
		r, w := io.Pipe()
		running[i].Input, running[i].source = r, r
		running[p.StdinFrom-1].Output, running[p.StdinFrom-1].piped = w, w
	}
	endings := make([]backend.Ending, len(programs))
	errs := make([]error, len(programs))
	var wait sync.WaitGroup
	for i, p := range running {
		wait.Go(func() { endings[i], errs[i] = p.run(ctx, s) })
	}
	wait.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("running in the sandbox: %w", err)
	}
	return endings, nil
}

// process is a Process with its ends.
type process struct {
	Process
	out    *bounded
	errs   *bounded
	source *io.PipeReader // of StdinFrom
	piped  *io.PipeWriter // another program reads from it
}

func (s *Sandbox) load(ctx context.Context, program backend.Program) (*process, error) {
	if len(program.Argv) == 0 || program.Argv[0] == "" {
		return nil, errors.New("no program is specified")
	}
	p := &process{Process: Process{Program: program, Dir: &Files{}}}
	for _, f := range program.Files {
		content := f.Content
		if !f.Digest.IsZero() {
			var err error
			if content, err = cache.ReadBlob(ctx, s.store, f.Digest, -1); err != nil {
				return nil, fmt.Errorf("file %q: %w", f.Path, err)
			}
		}
		if at := path.Clean(f.Path); at == "." || at == ".." || path.IsAbs(at) || strings.HasPrefix(at, "../") {
			return nil, fmt.Errorf("file %q: not a path inside the directory", f.Path)
		}
		p.Dir.set(path.Clean(f.Path), entry{content: content, executable: true})
	}
	if !path.IsAbs(program.Argv[0]) && !p.Dir.Executable(path.Clean(program.Argv[0])) {
		return nil, fmt.Errorf("starting %q: it is not one of the program's files", program.Argv[0])
	}
	p.Input = strings.NewReader("")
	if !program.Stdin.IsZero() {
		content, err := cache.ReadBlob(ctx, s.store, program.Stdin, -1)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		p.Input = strings.NewReader(string(content))
	}
	p.out, p.errs = &bounded{limit: program.Limits.Stdout, refuses: true}, &bounded{limit: program.Limits.Stderr}
	p.Output, p.Errors = p.out, p.errs
	return p, nil
}

// run runs p to its end or limit.
func (p *process) run(ctx context.Context, s *Sandbox) (backend.Ending, error) {
	limited := ctx
	if p.Limits.Clock > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, p.Limits.Clock)
		defer cancel()
	}
	// Waiters on a pipe are woken by the end of either side.
	defer context.AfterFunc(limited, p.hangUp)()
	start := time.Now()
	end, err := s.behave(limited, &p.Process)
	late := limited.Err() != nil
	p.hangUp()
	if err != nil && !late {
		return end, err
	}
	if end.Status == "" {
		end.Status = backend.Exited
	}
	if end.Clock == 0 {
		end.Clock = time.Since(start)
	}
	switch {
	case p.out.over:
		end = backend.Ending{Status: backend.OutputLimit, CPU: end.CPU, Clock: end.Clock, Memory: end.Memory}
	case late:
		end = backend.Ending{Status: backend.ClockLimit, CPU: end.CPU, Clock: end.Clock, Memory: end.Memory}
	}
	end.Stderr = p.errs.kept
	return end, p.keep(ctx, s, &end)
}

func (p *process) hangUp() {
	if p.source != nil {
		p.source.Close()
	}
	if p.piped != nil {
		p.piped.Close()
	}
}

// keep stores the outputs of p.
func (p *process) keep(ctx context.Context, s *Sandbox, end *backend.Ending) error {
	var err error
	if p.piped == nil {
		if end.Stdout, err = cache.PutBytes(ctx, s.store, p.out.kept); err != nil {
			return err
		}
	}
	end.Kept = nil
	for _, name := range p.Keep {
		content, err := p.Dir.Read(path.Clean(name))
		if err != nil {
			continue // not there, or no regular file
		}
		if p.Limits.Kept > 0 && int64(len(content)) > p.Limits.Kept {
			if end.Status == backend.Exited {
				*end = backend.Ending{Status: backend.OutputLimit, Stdout: end.Stdout, Stderr: end.Stderr, Kept: end.Kept, CPU: end.CPU, Clock: end.Clock, Memory: end.Memory}
			}
			continue
		}
		digest, err := cache.PutBytes(ctx, s.store, content)
		if err != nil {
			return err
		}
		end.Kept = append(end.Kept, backend.KeptFile{Path: name, Digest: digest})
	}
	return nil
}

// bounded keeps data up to a limit; the rest is refused or dropped.
type bounded struct {
	limit   int64
	refuses bool
	over    bool
	kept    []byte
}

func (b *bounded) Write(p []byte) (int, error) {
	fits := min(int64(len(p)), b.limit-int64(len(b.kept)))
	b.kept = append(b.kept, p[:fits]...)
	if fits < int64(len(p)) && b.refuses {
		b.over = true
		return int(fits), errors.New("the output limit is reached")
	}
	return len(p), nil
}
