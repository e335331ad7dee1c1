package requirements

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
	"github.com/fevalgraph/fevalgraph/internal/certificates"
	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
)

// Locker returns pinned requirements: from the lock file or, if the call can write, by resolving them and
// updating the file.
type Locker struct {
	o      LockerOptions
	rehash bool

	mu       sync.Mutex
	lock     *Lock
	failed   map[setID]error // by set, so that uv is called once
	used     map[setID]bool  // requested sets
	done     map[setID]bool  // sets that this call resolved
	open     map[setID]bool  // sets that were not resolved because of AsItIs or ReadOnly
	notified bool            // missing hashes were reported
}

// LockerOptions specifies the location of pins, and whether the locker may resolve.
type LockerOptions struct {
	Path     string // of the lock file
	State    string // directory of the project's state
	ReadOnly bool   // do not resolve
	Locked   bool   // requirements that are not locked are an error
	Offline  bool   // do not use the network
	Upgrade  bool   // resolve again, ignoring the lock file
	// LookupEnv reads the caller's environment.
	LookupEnv func(name string) (string, bool)
	// Renewed is called if an unreadable lock file is replaced, Unhashed for the first pins without hashes,
	// and Resolving before a number of requirements are resolved for a version of Python.
	Renewed   func()
	Unhashed  func(pins []string)
	Resolving func(requirements int, python string)
}

// NewLocker reads the lock file.
func NewLocker(o LockerOptions) (*Locker, error) {
	l := &Locker{o: o, failed: map[setID]error{}, used: map[setID]bool{}, done: map[setID]bool{}, open: map[setID]bool{}}
	var err error
	if l.lock, err = Load(o.Path); err != nil && o.Upgrade {
		o.Renewed()
		l.lock, err = &Lock{}, nil
	}
	return l, err
}

// asItIs is the key of contexts that keep a Locker from resolving.
type asItIs struct{}

// AsItIs returns a context that restricts a Locker to the lock file, for calls that only decide.
func AsItIs(ctx context.Context) context.Context { return context.WithValue(ctx, asItIs{}, true) }

// Rehash makes the locker resolve requirements again whose pins lack hashes, to the same versions.
func (l *Locker) Rehash() { l.rehash = true }

// Used counts the requested sets of requirements.
func (l *Locker) Used() int { return len(l.used) }

// Resolved returns how many were resolved.
func (l *Locker) Resolved() int { return len(l.done) }

// Unresolved returns how many were not, because of AsItIs or ReadOnly.
func (l *Locker) Unresolved() int { return len(l.open) }

// Pins returns the pins of requirements on a backend, for commands with an environment, or nil if they are
// not locked and the locker cannot resolve them.
func (l *Locker) Pins(ctx context.Context, b backend.Backend, env, requires []string) ([]string, error) {
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
	if pins, ok := l.lock.Pins(python, platform, requires); ok && (!l.o.Upgrade && !l.lacksHashes(pins) || l.done[key]) {
		if unhashed := Unhashed(pins); !l.o.ReadOnly && !l.notified && len(unhashed) > 0 {
			l.notified = true
			l.o.Unhashed(unhashed)
		}
		return pins, nil
	}
	if err := l.failed[key]; err != nil {
		return nil, err
	}
	switch {
	case l.o.ReadOnly || ctx.Value(asItIs{}) != nil:
		l.open[key] = true
		return nil, nil
	case l.o.Locked:
		return nil, &graph.InputError{Err: fmt.Errorf("the requirements [%s] for Python %s are not in %s; run `fevalgraph lock`",
			strings.Join(requires, ", "), python, FileName)}
	case l.o.Offline && can.OwnFiles: // a new container has no uv cache
		return nil, fmt.Errorf("the requirements [%s] for Python %s are not locked and --offline forbids resolving them", strings.Join(requires, ", "), python)
	}
	var resolver Resolver = &Inside{Backend: b, Env: env}
	if !can.OwnFiles {
		if resolver, err = l.uv(); err != nil {
			return nil, err
		}
	}
	pins, err := l.resolve(ctx, resolver, interpreter, Set{Python: python, Platform: platform, Requires: requires})
	if err != nil {
		l.failed[key] = err
		return nil, err
	}
	l.done[key] = true
	return pins, nil
}

// resolve resolves a set and writes the lock file, while it excludes other processes of the project. It
// keeps pins that another process wrote meanwhile, and returns them if they are for the set.
func (l *Locker) resolve(ctx context.Context, resolver Resolver, interpreter string, set Set) ([]string, error) {
	release, err := l.lockProject(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	var preferences []string
	if !l.o.Upgrade {
		if l.lock, err = Load(l.o.Path); err != nil {
			return nil, &graph.InputError{Err: err}
		}
		pins, ok := l.lock.Pins(set.Python, set.Platform, set.Requires)
		if ok && !l.lacksHashes(pins) {
			return pins, nil
		}
		for _, line := range pins { // the versions stay
			pin, _ := Cut(line)
			preferences = append(preferences, pin)
		}
		if !ok {
			preferences = l.lock.Preferences(set.Python, set.Platform)
		}
	}
	l.o.Resolving(len(set.Requires), set.Python)
	pins, err := resolver.Resolve(ctx, interpreter, set.Requires, preferences)
	var unresolvable *UnresolvableError
	if errors.As(err, &unresolvable) {
		return nil, &graph.InputError{Err: err}
	}
	if err != nil {
		return nil, err
	}
	set.Pins = pins
	l.lock.Put(set)
	if err := l.lock.Save(l.o.Path); err != nil {
		return nil, err
	}
	pins, _ = l.lock.Pins(set.Python, set.Platform, set.Requires)
	return pins, nil
}

// lacksHashes reports whether pins must be resolved again because they lack hashes.
func (l *Locker) lacksHashes(pins []string) bool {
	return l.rehash && len(Unhashed(pins)) > 0
}

// lockProject waits until no other process of the project resolves. It is a kernel lock, which ends with the
// process.
func (l *Locker) lockProject(ctx context.Context) (release func(), err error) {
	lock, err := lockedfile.Wait(ctx, filepath.Join(l.o.State, "locking.lock"))
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, fmt.Errorf("waiting for another process that resolves requirements: %w", err)
	}
	return func() { _ = lock.Close() }, nil
}

func (l *Locker) uv() (*UV, error) {
	program, err := exec.LookPath("uv")
	if err != nil {
		return nil, &backend.ToolError{Tool: "uv", Err: errors.New("not found in PATH"), Hint: "install uv: pip install uv"}
	}
	// uv gets the caller's whole environment, which specifies how to reach the index; it only affects
	// versions.
	return &UV{Program: program, Offline: l.o.Offline, Env: append(certificates.System(l.o.LookupEnv), os.Environ()...), Scratch: filepath.Join(l.o.State, "locking")}, nil
}

// Unused counts the sets that were not requested, for the platforms and interpreters in use: sets for
// other platforms belong to other machines.
func (l *Locker) Unused() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	needed := l.needed()
	for _, s := range l.lock.sets {
		if !needed(s) {
			n++
		}
	}
	return n
}

// Prune drops the unused sets, and returns them; with AsItIs it only returns them.
func (l *Locker) Prune(ctx context.Context) (dropped []Set, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	release, err := l.lockProject(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if l.lock, err = Load(l.o.Path); err != nil {
		return nil, err
	}
	dropped = l.lock.Keep(l.needed())
	if ctx.Value(asItIs{}) != nil {
		return dropped, nil
	}
	return dropped, l.lock.Save(l.o.Path)
}

// needed reports whether a set was requested, or belongs to another machine.
func (l *Locker) needed() func(Set) bool {
	stacks := map[string]bool{}
	for set := range l.used {
		stacks[set.stack] = true
	}
	return func(s Set) bool {
		return !stacks[stackOf(s.Python, s.Platform)] || l.used[setOf(s.Python, s.Platform, s.Requires)]
	}
}

// stackOf returns a name for the interpreter and platform of a set.
func stackOf(python, platform string) string { return python + " on " + platform }

// setID identifies a set of requirements.
type setID struct{ stack, requires string }

func setOf(python, platform string, requires []string) setID {
	return setID{stackOf(python, platform), strings.Join(Normalise(requires), "\n")}
}

// minorVersion returns "3.11" for "CPython 3.11.7".
func minorVersion(version string) string {
	fields := strings.Fields(version)
	if len(fields) == 0 {
		return version
	}
	parts := strings.SplitN(fields[len(fields)-1], ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
