package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// locker answers with pinned requirements: from the lock file, or, when the
// command may write, by resolving them and writing it.
type locker struct {
	app     *app
	path    string
	state   string
	reads   bool
	upgrade bool                                  // resolve anew, without regard to the lock file
	inside  map[plan.Driver]requirements.Resolver // the project's

	mu     sync.Mutex
	lock   *requirements.Lock
	failed map[string]error // by set, so that uv is asked once
	used   map[string]bool  // sets that were asked for
	done   map[string]bool  // sets that were resolved anew
}

func newLocker(p *project) (*locker, error) {
	l := &locker{app: p.app, path: filepath.Join(p.cfg.Root, requirements.FileName), state: p.state, reads: p.reads,
		inside: p.inside, failed: map[string]error{}, used: map[string]bool{}, done: map[string]bool{}}
	l.upgrade = p.renews
	var err error
	if l.lock, err = requirements.Load(l.path); err != nil && p.renews {
		fmt.Fprintf(p.app.io.Err, "warning: %s could not be read and is made anew\n", requirements.FileName)
		l.lock, err = &requirements.Lock{}, nil
	}
	return l, err
}

// pins implements plan.Environment.Pins.
func (l *locker) pins(ctx context.Context, d plan.Driver, requires []string) ([]string, error) {
	interpreter, version, err := d.Interpreter(ctx)
	if err != nil {
		return nil, err
	}
	platform, err := d.Platform(ctx)
	if err != nil {
		return nil, err
	}
	python := minorVersion(version)
	l.mu.Lock()
	defer l.mu.Unlock()
	key := setKey(python, platform, requires)
	l.used[key] = true
	if pins, ok := l.lock.Pins(python, platform, requires); ok && (!l.upgrade || l.done[key]) {
		return pins, nil
	}
	if err := l.failed[key]; err != nil {
		return nil, err
	}
	switch {
	case l.reads:
		return nil, nil
	case l.app.flags.locked:
		return nil, &graph.InputError{Err: fmt.Errorf("the requirements [%s] for Python %s are not in %s; run `fevalgraph lock`",
			strings.Join(requires, ", "), python, requirements.FileName)}
	case l.app.flags.offline:
		return nil, fmt.Errorf("the requirements [%s] for Python %s are not locked and --offline forbids resolving them", strings.Join(requires, ", "), python)
	}
	resolver := l.inside[d]
	if resolver == nil {
		if resolver, err = l.uv(); err != nil {
			return nil, err
		}
	}
	pins, err := l.resolve(ctx, resolver, interpreter, requirements.Set{Python: python, Platform: platform, Requires: requires})
	if err != nil {
		l.failed[key] = err
		return nil, err
	}
	l.done[key] = true
	return pins, nil
}

// resolve asks for the pins of a set and writes the lock file, while no other
// process of the project does: what that wrote meanwhile is kept, and is an
// answer, too.
func (l *locker) resolve(ctx context.Context, resolver requirements.Resolver, interpreter string, set requirements.Set) ([]string, error) {
	release, err := l.exclusive(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	var preferences []string
	if !l.upgrade {
		if l.lock, err = requirements.Load(l.path); err != nil {
			return nil, &graph.InputError{Err: err}
		}
		if pins, ok := l.lock.Pins(set.Python, set.Platform, set.Requires); ok {
			return pins, nil
		}
		preferences = l.lock.Preferences(set.Python, set.Platform)
	}
	if !l.app.flags.quiet {
		fmt.Fprintf(l.app.io.Err, "locking %d requirements for Python %s\n", len(set.Requires), set.Python)
	}
	pins, err := resolver.Resolve(ctx, interpreter, set.Requires, preferences)
	var unresolvable *requirements.UnresolvableError
	if errors.As(err, &unresolvable) {
		return nil, &graph.InputError{Err: err}
	}
	if err != nil {
		return nil, err
	}
	set.Pins = pins
	l.lock.Put(set)
	if err := l.lock.Save(l.path); err != nil {
		return nil, err
	}
	return pins, nil
}

// exclusive waits until no other process of the project resolves. The lock is
// the kernel's and ends with the process.
func (l *locker) exclusive(ctx context.Context) (release func(), err error) {
	lock, err := lockedfile.Wait(ctx, filepath.Join(l.state, "locking.lock"))
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, fmt.Errorf("waiting for another process that resolves requirements: %w", err)
	}
	return func() { _ = lock.Close() }, nil
}

func (l *locker) uv() (*requirements.UV, error) {
	program, err := exec.LookPath("uv")
	if err != nil {
		return nil, &backend.ToolError{Tool: "uv", Err: errors.New("not found in PATH"), Hint: "install uv: pip install uv"}
	}
	// uv gets the caller's whole environment: how to reach the index is in it,
	// and only versions come back.
	return &requirements.UV{Program: program, Env: os.Environ(), Scratch: filepath.Join(l.state, "locking")}, nil
}

// prune drops the sets that nothing asked for, of the platforms and interpreters
// in use: others are somebody else's.
func (l *locker) prune(ctx context.Context) (dropped int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	release, err := l.exclusive(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	if l.lock, err = requirements.Load(l.path); err != nil {
		return 0, err
	}
	stacks := map[string]bool{}
	for key := range l.used {
		stack, _, _ := strings.Cut(key, "\x00")
		stacks[stack] = true
	}
	dropped = l.lock.Keep(func(s requirements.Set) bool {
		return !stacks[stackOf(s.Python, s.Platform)] || l.used[setKey(s.Python, s.Platform, s.Requires)]
	})
	return dropped, l.lock.Save(l.path)
}

// stackOf names what versions are for.
func stackOf(python, platform string) string { return python + " on " + platform }

func setKey(python, platform string, requires []string) string {
	return stackOf(python, platform) + "\x00" + strings.Join(requirements.Normalise(requires), "\x00")
}

// minorVersion is "3.11" of "CPython 3.11.7".
func minorVersion(version string) string {
	fields := strings.Fields(version)
	if len(fields) == 0 {
		return version
	}
	parts := strings.SplitN(fields[len(fields)-1], ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
