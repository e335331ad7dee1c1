package eval

import (
	"bytes"
	"context"
	"crypto/sha256"
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

// Compiling and deciding are incremental, with a partition as the unit. Of each, the
// last run that decided about all of its nodes wrote down what they were compiled from,
// which paths they read and in which state, and the answers. A partition of which
// nothing is different is *fresh*: its nodes are pinned to their answers, and its results
// are taken as they are. Every other partition is compiled, and the engine decides
// about its nodes. Nothing else in the program concludes that a node is fresh.

// partState is a partition of the configuration, and what is known of it.
type partState struct {
	partition.Ref
	facts *partition.Facts // of a fresh partition; nil compiles it
}

// recalled is what earlier runs recorded of a project, as far as it still holds.
type recalled struct {
	index   *partition.Index
	changed map[string]bool                                // addresses of backends that answer otherwise
	shared  map[[sha256.Size]byte]partition.SharedSnapshot // of paths that are as they were
}

// usesNoted is how long a fresh partition relies on the use that was noted of its stored
// outputs. After it the engine decides about its nodes once, which notes their use and
// finds out what garbage collection has removed.
const usesNoted = 24 * time.Hour

// baseOf encodes what every partition depends on beside files: the program's version and
// place, and the store. Two programs of one version may differ, and the state of the file
// at the place of one proves nothing about the other.
func (p *Project) baseOf(salt []byte) []byte {
	dir, err := p.options.CacheDir(p.Config)
	if err != nil {
		return nil
	}
	mode := "rw"
	if p.options.StoreReadOnly {
		mode = "r"
	}
	self, _ := os.Executable()
	words := append([]string{p.options.Version, self, dir, mode}, p.stores.IDs...)
	return partition.Salted(salt, []byte(strings.Join(words, "\x00")))
}

// baseFiles are the paths of the files that every partition depends on.
func (p *Project) baseFiles() []string {
	files := []string{p.lockPath()}
	if self, err := os.Executable(); err == nil {
		files = append(files, self)
	}
	return files
}

// recallConfig takes the configuration from the index when nothing that it was
// evaluated from is different. It returns nil when the configuration has to be evaluated.
func recallConfig(o *Options, i *partition.Index) *lang.Config {
	if i == nil || i.Invocation == nil || !bytes.Equal(i.Invocation, invocation(o, i.Salt)) || !i.SameEnvironment(o.Getenv) || !partition.Unchanged(i.Inputs) {
		return nil
	}
	cfg := &lang.Config{Root: i.Root, Settings: i.Settings}
	if i.Late || i.Whole {
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

// recall finds out what of the index still holds. Without one, nothing does.
func (p *Project) recall(ctx context.Context, i *partition.Index) {
	p.known = recalled{index: i, shared: map[[sha256.Size]byte]partition.SharedSnapshot{}}
	p.salt = partition.NewSalt()
	if i != nil {
		p.salt = i.Salt
	}
	if p.evaluated {
		p.parts = p.partsOf(p.Config, i)
	} else {
		for _, ref := range i.Parts {
			p.parts = append(p.parts, partState{Ref: ref})
		}
	}
	whole := i == nil || i.Whole || p.evaluated && needsWhole(p.Config)
	if whole || !bytes.Equal(i.Base, p.baseOf(i.Salt)) || !i.SameEnvironment(p.options.Getenv) {
		for at := range p.parts {
			p.parts[at].File = partition.Name{}
		}
		return
	}
	p.check(ctx)
}

// partsOf divides an evaluated configuration. A partition that the index has with the
// same identity is taken over.
func (p *Project) partsOf(cfg *lang.Config, i *partition.Index) []partState {
	var parts []partState
	for _, part := range plan.Partitions(cfg) {
		state := partState{Ref: partition.Ref{Problem: part.Problem, First: part.First, Backends: part.Backends()}}
		if content, err := part.Fingerprint(); err == nil {
			state.ID = partition.Salted(p.salt, content)
		}
		if i != nil && state.ID != nil {
			at, ok := slices.BinarySearchFunc(i.Parts, state.Ref, comparePartRefs)
			if ok && bytes.Equal(i.Parts[at].ID, state.ID) {
				state.File = i.Parts[at].File
			}
		}
		parts = append(parts, state)
	}
	return parts
}

func comparePartRefs(a, b partition.Ref) int {
	if c := strings.Compare(a.Problem, b.Problem); c != 0 {
		return c
	}
	return strings.Compare(a.First, b.First)
}

// check reads the facts of every partition that the index has a file of, and keeps those
// that still hold.
func (p *Project) check(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0) + 1) // one waits for backends
	group.Go(func() error {
		p.known.changed = p.changedBackends(ctx, p.known.index.Backends)
		return nil
	})
	sharedHolds := make([]bool, len(p.known.index.Shared))
	for at, s := range p.known.index.Shared {
		group.Go(func() error {
			sharedHolds[at] = partition.Unchanged(s.Snapshot)
			return nil
		})
	}
	for at := range p.parts {
		part := &p.parts[at]
		if part.File == (partition.Name{}) {
			continue
		}
		group.Go(func() error {
			part.facts = p.freshFacts(part.File)
			return ctx.Err()
		})
	}
	interrupted := group.Wait() != nil
	for at, s := range p.known.index.Shared {
		if sharedHolds[at] {
			p.known.shared[s.Sum] = s
		}
	}
	for at := range p.parts {
		part := &p.parts[at]
		if interrupted || part.facts != nil && !p.contextHolds(part) {
			part.facts = nil
		}
	}
}

// freshFacts reads the facts in a partition file; nil unless every path that they
// record is as it was.
func (p *Project) freshFacts(name partition.Name) *partition.Facts {
	f, err := p.partitions().Facts(name)
	if err != nil || !partition.Unchanged(f.Snapshot) {
		return nil
	}
	if age := time.Since(time.Unix(f.Used, 0)); age.Abs() > usesNoted {
		return nil
	}
	return f
}

// contextHolds reports whether the backends and shared nodes of a partition are as they
// were.
func (p *Project) contextHolds(part *partState) bool {
	return !slices.ContainsFunc(part.Backends, func(addr string) bool { return p.known.changed[addr] }) &&
		!slices.ContainsFunc(part.facts.Shared, func(s partition.SharedRef) bool { _, ok := p.known.shared[s.Sum]; return !ok })
}

func (p *Project) partitions() partition.Store { return partition.StoreIn(p.state) }

// invocation encodes the options that say which configuration is read.
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
