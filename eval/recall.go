package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Compiling and deciding are incremental, with a partition as the unit. The last run that decided all nodes of a
// partition recorded what they were compiled from, the paths that they read with their states, and their answers.
// If none of that changed, the partition is *fresh*: its nodes are pinned to their answers, and its results are
// reused. Every other partition is compiled, and the engine decides its nodes. Only this file and the engine
// conclude that a node is fresh.

// partState is a partition of the configuration, with its recorded state.
type partState struct {
	partition.Ref
	facts *partition.Facts // nil for a stale partition, which must be compiled
}

// freshness holds the partitions of a call's configuration, with the records of earlier runs that still apply.
type freshness struct {
	call *call

	parts      []partState // in the order of results
	index      *partition.Index
	changed    map[string]bool       // addresses of shared nodes and backends whose state changed, or does not matter
	rehydrated []*plan.BackendHandle // backends that were just queried
}

// openChanged opens a project and determines its stale partitions from the records of earlier runs, without
// compiling.
func openChanged(ctx context.Context, o Options, access Access) (*freshness, error) {
	var known *partition.Index
	if !o.Additions.Any() {
		known = partition.ReadIndex(o.StateDir(), o.Place(o.StateDir(), access == Writing))
	}
	return openWith(ctx, o, access, known)
}

// openWith opens a project and determines what is stale since known was written. Without an index, everything
// is.
func openWith(ctx context.Context, o Options, access Access, known *partition.Index) (*freshness, error) {
	c, err := openCall(ctx, o, access, known)
	if err != nil {
		return nil, err
	}
	return recall(ctx, c, known), nil
}

// usesNoted is how long a fresh partition relies on the recorded use of its stored outputs. After that, the
// engine decides its nodes again, which records their use and detects outputs that garbage collection removed.
const usesNoted = 24 * time.Hour

// baseOf encodes what every partition depends on besides files: version and path of the program, and the store.
// Two programs with the same version can differ, so the file state of one proves nothing about another.
func (c *call) baseOf(salt []byte) []byte {
	dir, err := c.options.CacheDir(c.Config)
	if err != nil {
		return nil
	}
	mode := "rw"
	if c.options.StoreReadOnly {
		mode = "r"
	}
	self, _ := os.Executable()
	words := append([]string{c.options.Version, self, dir, mode}, c.stores.IDs...)
	return partition.Salted(salt, []byte(strings.Join(words, "\x00")))
}

// baseFiles returns the paths of files that every partition depends on.
func (c *call) baseFiles() []string {
	files := []string{c.lockPath()}
	if self, err := os.Executable(); err == nil {
		files = append(files, self)
	}
	return files
}

// recallConfig returns the configuration from the index if its inputs are unchanged, or nil if it must be
// evaluated.
func recallConfig(o *Options, i *partition.Index) *lang.Config {
	if i == nil || i.Invocation == nil || !bytes.Equal(i.Invocation, invocation(o, i.Salt)) || !i.SameEnvironment(o.Getenv) || !partition.Unchanged(i.Inputs) {
		return nil
	}
	cfg := &lang.Config{Root: i.Root, Settings: i.Settings}
	if i.Needed {
		whole, ok := partition.ReadConfig(o.StateDirOf(i.Root), i.Config)
		if !ok {
			return nil
		}
		cfg = whole
	}
	if len(i.Warnings) > 0 {
		o.Note(options.Warnings{Diagnostics: i.Warnings})
	}
	return cfg
}

// recall determines which records of the index still apply.
func recall(ctx context.Context, c *call, i *partition.Index) *freshness {
	if i == nil {
		i = new(partition.Index)
		i.Salt = partition.NewSalt()
	}
	f := &freshness{call: c, index: i, changed: map[string]bool{}}
	if c.evaluated {
		f.divide()
	} else {
		for _, ref := range i.Parts {
			f.parts = append(f.parts, partState{Ref: ref})
		}
	}
	if needsWhole(c.Config) || !bytes.Equal(i.Base, c.baseOf(i.Salt)) || !i.SameEnvironment(c.options.Getenv) {
		for at := range f.parts {
			f.parts[at].File = partition.Name{}
		}
		for _, s := range i.Shared {
			f.changed[s.Addr] = true
		}
		return f
	}
	f.check(ctx)
	return f
}

// divide lists the partitions of an evaluated configuration, and reuses those with the same identity in the
// index.
func (f *freshness) divide() {
	for _, part := range plan.Partitions(f.call.Config) {
		state := partState{Ref: partition.Ref{Problem: part.Problem, First: part.First}}
		if content, err := part.Fingerprint(); err == nil {
			state.ID = partition.Salted(f.index.Salt, content)
			at, ok := slices.BinarySearchFunc(f.index.Parts, state.Ref, comparePartRefs)
			if ok && bytes.Equal(f.index.Parts[at].ID, state.ID) {
				state.File = f.index.Parts[at].File
			}
		}
		f.parts = append(f.parts, state)
	}
}

func comparePartRefs(a, b partition.Ref) int {
	if c := strings.Compare(a.Problem, b.Problem); c != 0 {
		return c
	}
	return strings.Compare(a.First, b.First)
}

// check reads the facts of every recorded partition, and keeps the partitions that still hold.
func (f *freshness) check(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0) + 1) // one extra, which waits for backends
	same := make([]bool, len(f.index.Shared))
	group.Go(func() error {
		f.askBackends(ctx, same)
		return nil
	})
	for at, s := range f.index.Shared {
		if s.Backend == nil {
			group.Go(func() error {
				same[at] = partition.Unchanged(s.Snapshot)
				return nil
			})
		}
	}
	for at := range f.parts {
		part := &f.parts[at]
		if part.File == (partition.Name{}) {
			continue
		}
		group.Go(func() error {
			part.facts = f.freshFacts(part.File)
			return ctx.Err()
		})
	}
	interrupted := group.Wait() != nil
	for at, s := range f.index.Shared {
		if !same[at] {
			f.changed[s.Addr] = true
		}
	}
	for at := range f.parts {
		part := &f.parts[at]
		if interrupted || part.facts != nil && !f.contextHolds(part) {
			part.facts = nil
		}
	}
}

// freshFacts reads the facts of a partition file. It returns nil if the state of a recorded path changed.
func (f *freshness) freshFacts(name partition.Name) *partition.Facts {
	facts, err := f.call.partitions.Facts(name)
	if err != nil || !partition.Unchanged(facts.Snapshot) {
		return nil
	}
	if age := time.Since(time.Unix(facts.Used, 0)); age.Abs() > usesNoted {
		return nil
	}
	return facts
}

// contextHolds reports whether the backends and shared nodes of a partition are unchanged.
func (f *freshness) contextHolds(part *partState) bool {
	return !slices.ContainsFunc(part.facts.Backends, func(addr string) bool { return f.changed[addr] }) &&
		!slices.ContainsFunc(part.facts.Common, func(c partition.CommonRef) bool { return f.changed[c.Addr] })
}

// partOf finds the partition that contains a solution of a problem.
func (f *freshness) partOf(problem, solution string) (at int, ok bool) {
	at, exact := f.find(problem, solution)
	if !exact {
		at--
	}
	return at, at >= 0 && f.parts[at].Problem == problem
}

// find returns the position of the partition that begins with a solution, or where it would be.
func (f *freshness) find(problem, first string) (at int, ok bool) {
	return slices.BinarySearchFunc(f.parts, partition.Ref{Problem: problem, First: first}, func(a partState, b partition.Ref) int { return comparePartRefs(a.Ref, b) })
}

// invocation encodes the options that select the configuration.
func invocation(o *Options, salt []byte) []byte {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil
	}
	encoded, err := json.Marshal([]any{dir, o.File, o.Vars, o.VarFiles})
	if err != nil {
		return nil
	}
	return partition.Salted(salt, encoded)
}
