package eval

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
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// locker answers with pinned requirements: from the lock file, or, when the
// command may write, by resolving them and writing it.
type locker struct {
	options *Options
	path    string
	state   string
	reads   bool
	upgrade bool // resolve again, without regard to the lock file
	hashes  bool // resolve again, to the same versions, what has no hashes

	mu     sync.Mutex
	lock   *requirements.Lock
	failed map[setID]error // by set, so that uv is asked once
	used   map[setID]bool  // sets that were asked for
	done   map[setID]bool  // sets that this invocation resolved
	told   bool            // that there are no hashes
}

func newLocker(p *Project) (*locker, error) {
	l := &locker{options: p.options, path: filepath.Join(p.Config.Root, requirements.FileName), state: p.state, reads: p.access == Reading,
		failed: map[setID]error{}, used: map[setID]bool{}, done: map[setID]bool{}}
	l.upgrade = p.access == renewing
	var err error
	if l.lock, err = requirements.Load(l.path); err != nil && l.upgrade {
		p.options.notify(LockRenewed{requirements.FileName})
		l.lock, err = &requirements.Lock{}, nil
	}
	return l, err
}

// pins implements plan.Environment.Pins.
func (l *locker) pins(ctx context.Context, b backend.Backend, env, requires []string) ([]string, error) {
	can := b.Capabilities()
	interpreter, version, err := can.Python.Interpreter(ctx)
	if err != nil {
		return nil, err
	}
	platform, err := can.Python.Platform(ctx)
	if err != nil {
		return nil, err
	}
	python := minorVersion(version)
	l.mu.Lock()
	defer l.mu.Unlock()
	key := setOf(python, platform, requires)
	l.used[key] = true
	if pins, ok := l.lock.Pins(python, platform, requires); ok && (!l.upgrade && !l.lacksHashes(pins) || l.done[key]) {
		if unhashed := requirements.Unhashed(pins); !l.reads && !l.told && len(unhashed) > 0 {
			l.told = true
			l.options.notify(LockUnhashed{requirements.FileName, unhashed})
		}
		return pins, nil
	}
	if err := l.failed[key]; err != nil {
		return nil, err
	}
	switch {
	case l.reads:
		return nil, nil
	case l.options.Locked:
		return nil, &graph.InputError{Err: fmt.Errorf("the requirements [%s] for Python %s are not in %s; run `fevalgraph lock`",
			strings.Join(requires, ", "), python, requirements.FileName)}
	case l.options.Offline && can.OwnFiles: // a fresh container has no cache of uv's
		return nil, fmt.Errorf("the requirements [%s] for Python %s are not locked and --offline forbids resolving them", strings.Join(requires, ", "), python)
	}
	var resolver requirements.Resolver = &requirements.Inside{Backend: b, Env: env}
	if !can.OwnFiles {
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
		pins, ok := l.lock.Pins(set.Python, set.Platform, set.Requires)
		if ok && !l.lacksHashes(pins) {
			return pins, nil
		}
		for _, line := range pins { // the versions stay
			pin, _ := requirements.Cut(line)
			preferences = append(preferences, pin)
		}
		if !ok {
			preferences = l.lock.Preferences(set.Python, set.Platform)
		}
	}
	l.options.notify(Locking{Requirements: len(set.Requires), Python: set.Python})
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
	pins, _ = l.lock.Pins(set.Python, set.Platform, set.Requires)
	return pins, nil
}

// lacksHashes reports whether pins are to be resolved again for want of hashes.
func (l *locker) lacksHashes(pins []string) bool {
	return l.hashes && len(requirements.Unhashed(pins)) > 0
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
	return &requirements.UV{Program: program, Offline: l.options.Offline, Env: append(requirements.SystemCertificates(l.options.lookupEnv), os.Environ()...), Scratch: filepath.Join(l.state, "locking")}, nil
}

// prune drops the sets that nothing asked for, of the platforms and interpreters
// in use: sets of other platforms belong to other machines.
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
	for set := range l.used {
		stacks[set.stack] = true
	}
	dropped = l.lock.Keep(func(s requirements.Set) bool {
		return !stacks[stackOf(s.Python, s.Platform)] || l.used[setOf(s.Python, s.Platform, s.Requires)]
	})
	return dropped, l.lock.Save(l.path)
}

// stackOf names what versions are for.
func stackOf(python, platform string) string { return python + " on " + platform }

// setID tells sets of requirements apart.
type setID struct{ stack, requires string }

func setOf(python, platform string, requires []string) setID {
	return setID{stackOf(python, platform), strings.Join(requirements.Normalise(requires), "\n")}
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
