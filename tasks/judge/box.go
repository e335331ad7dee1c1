package judge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// Box runs programs in a sandbox.
type Box struct {
	backend.Sandbox
	Ident func(context.Context) (backend.Identity, error) // of Sandbox, cached by the caller
	Env   []string                                        // KEY=value, complete, of every program; enters keys
}

// Environment returns the environment of programs, to which a backend can add.
func Environment() []string { return []string{"PATH=/usr/bin:/bin"} }

// describe adds the environment of programs to a manifest.
func (b *Box) describe(ctx context.Context, m *graph.Manifest) error {
	if err := session.DescribeBackend(ctx, m, b.Ident); err != nil {
		return err
	}
	m.Strings("env", b.Env)
	return nil
}

// describeLimits adds all limits of a program to a manifest.
func describeLimits(m *graph.Manifest, whose string, l backend.Limits) {
	m.String(whose+"cpu limit", l.CPU.String())
	m.String(whose+"clock limit", l.Clock.String())
	m.Int(whose+"memory limit", l.Memory)
	m.Int(whose+"stack limit", l.Stack)
	m.Bool(whose+"address space limited", l.AddressSpace)
	m.Int(whose+"process limit", int64(l.Processes))
	m.Int(whose+"output limit", l.Stdout)
	m.Int(whose+"error output limit", l.Stderr)
	m.Int(whose+"file limit", l.Kept)
}

// run runs programs. If the machine was taken away, the error is not one of the sandbox.
func (b *Box) run(ctx context.Context, programs ...backend.Program) ([]backend.Ending, error) {
	ends, err := b.Run(ctx, programs...)
	if lost := (*backend.PreemptedError)(nil); errors.As(err, &lost) {
		err = &graph.PreemptedError{Err: err}
	}
	if errors.Is(err, backend.ErrSpoiled) {
		err = &graph.CrowdedError{Err: err}
	}
	return ends, err
}

// runBlamed does work that involves a solution's program or its output. If that makes the machine fail in an
// isolated attempt, although the machine was fit before, the solution is refused.
func runBlamed(ctx context.Context, w *graph.Work, work func(context.Context, *graph.Work) (graph.Outcome, error)) (graph.Outcome, error) {
	if w.Isolated {
		if err := cache.Room(w.Store); err != nil {
			return graph.Outcome{}, fmt.Errorf("the machine is not fit: %w", err)
		}
	}
	outcome, err := work(ctx, w)
	if w.Isolated && errors.Is(err, backend.ErrSpoiled) {
		return session.RefuseSpoiled(ctx, w.Store, err)
	}
	return outcome, err
}

// runOne runs a single program.
func (b *Box) runOne(ctx context.Context, p backend.Program) (backend.Ending, error) {
	p.Env = b.Env
	endings, err := b.run(ctx, p)
	if err != nil {
		return backend.Ending{}, err
	}
	return endings[0], nil
}

// runSettled runs a single program with patience. A program that waits forever reaches its wall-clock limit
// twice, so other work on the machine does not matter.
func (b *Box) runSettled(ctx context.Context, p backend.Program) (backend.Ending, error) {
	p.Env = b.Env
	ends, err := b.patient(ctx, p)
	if err == nil && ends[0].Status == backend.ClockLimit {
		ends, err = b.patient(ctx, p)
	}
	if err != nil {
		return backend.Ending{}, err
	}
	return ends[0], nil
}

// input returns the digest of a required output of a dependency.
func input(w *graph.Work, as, output string) (cache.Digest, error) {
	d, ok := w.Input(as, output)
	if !ok {
		return d, fmt.Errorf("dependency %q has no output %q", as, output)
	}
	return d, nil
}

// maxText limits a message, in bytes.
const maxText = 64 << 10

// readable returns the output of a program as valid UTF-8, shortened if it is long.
func readable(printed []byte) string { return shorten(text(printed)) }

// text converts the output of a program to trimmed, valid UTF-8.
func text(printed []byte) string {
	return strings.TrimSpace(strings.ToValidUTF8(string(printed), string(utf8.RuneError)))
}

// shorten cuts the middle out of a long text.
func shorten(text string) string {
	if len(text) <= maxText {
		return text
	}
	cut := func(s string) string { return strings.ToValidUTF8(s, "") }
	return cut(text[:maxText/2]) + "\n[...]\n" + cut(text[len(text)-maxText/2:])
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
