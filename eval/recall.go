package eval

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/frozen"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// Compiling and deciding are incremental, with a partition as the unit. Of each, the
// last run that decided about all of its nodes wrote down what they were compiled from,
// which paths they read and in which state, and the answers. A partition of which
// nothing is different is *fresh*: its nodes are pinned to their answers, and its results
// are taken as they are. Every other partition is compiled, and the engine decides
// about its nodes. Nothing else in the program concludes that a node is fresh.

// partState is a partition of the configuration, and what is known of it.
type partState struct {
	partRef
	facts *facts // of a fresh partition; nil compiles it
}

// recalled is what earlier runs recorded of a project, as far as it still holds.
type recalled struct {
	index   *index
	changed map[string]bool                      // addresses of backends that answer otherwise
	shared  map[[sha256.Size]byte]sharedSnapshot // of paths that are as they were
}

// usesNoted is how long a fresh partition relies on the use that was noted of its stored
// outputs. After it the engine decides about its nodes once, which notes their use and
// finds out what garbage collection has removed.
const usesNoted = 24 * time.Hour

// baseOf encodes what every partition depends on beside files: the program's version and
// the store.
func (p *Project) baseOf(salt []byte) []byte {
	dir, err := p.options.cacheDir(p.Config)
	if err != nil {
		return nil
	}
	mode := "rw"
	if p.options.StoreReadOnly {
		mode = "r"
	}
	return salted(salt, []byte(strings.Join([]string{p.options.Version, dir, mode}, "\x00")))
}

// baseFiles are the sightings of the files that every partition depends on.
func (p *Project) baseFiles() []string {
	files := []string{p.locker.path}
	if self, err := os.Executable(); err == nil {
		files = append(files, self)
	}
	return files
}

// recallConfig takes the configuration from the index when nothing that it was
// evaluated from is different. It returns nil when the configuration has to be evaluated.
func recallConfig(o *Options, i *index) *lang.Config {
	if i == nil || i.Invocation == nil || !bytes.Equal(i.Invocation, o.invocation(i.Salt)) || !i.sameEnvironment(o.lookupEnv) || !unchanged(i.Inputs) {
		return nil
	}
	cfg := &lang.Config{Root: i.Root, Settings: i.Settings}
	if i.Late || i.Whole {
		whole, ok := readConfig(o.stateDir(i.Root), i.Config)
		if !ok {
			return nil
		}
		cfg = whole
	}
	if len(i.Warnings) > 0 {
		o.notify(Warnings{i.Warnings})
	}
	return cfg
}

// recall finds out what of the index still holds. Without one, nothing does.
func (p *Project) recall(ctx context.Context, i *index) {
	p.known = recalled{index: i, shared: map[[sha256.Size]byte]sharedSnapshot{}}
	p.salt = newSalt()
	if i != nil {
		p.salt = i.Salt
	}
	if p.evaluated {
		p.parts = p.partsOf(p.Config, i)
	} else {
		for _, ref := range i.Parts {
			p.parts = append(p.parts, partState{partRef: ref})
		}
	}
	whole := i == nil || i.Whole || p.evaluated && needsWhole(p.Config)
	if whole || !bytes.Equal(i.Base, p.baseOf(i.Salt)) || !i.sameEnvironment(p.options.lookupEnv) {
		for at := range p.parts {
			p.parts[at].File = partitionName{}
		}
		return
	}
	p.check(ctx)
}

// partsOf divides an evaluated configuration. A partition that the index has with the
// same identity is taken over.
func (p *Project) partsOf(cfg *lang.Config, i *index) []partState {
	var parts []partState
	for _, part := range plan.Partitions(cfg) {
		state := partState{partRef: partRef{Problem: part.Problem, First: part.First, Backends: part.Backends()}}
		if content, err := part.Fingerprint(); err == nil {
			state.ID = salted(p.salt, content)
		}
		if i != nil && state.ID != nil {
			at, ok := slices.BinarySearchFunc(i.Parts, state.partRef, comparePartRefs)
			if ok && bytes.Equal(i.Parts[at].ID, state.ID) {
				state.File = i.Parts[at].File
			}
		}
		parts = append(parts, state)
	}
	return parts
}

func comparePartRefs(a, b partRef) int {
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
			sharedHolds[at] = unchanged(s.Snapshot)
			return nil
		})
	}
	for at := range p.parts {
		part := &p.parts[at]
		if part.File == (partitionName{}) {
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
func (p *Project) freshFacts(name partitionName) *facts {
	content, err := p.partitions().verified(name)
	if err != nil {
		return nil
	}
	f := new(facts)
	if frozen.Decode(string(content), f) != nil || !unchanged(f.Snapshot) {
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
		!slices.ContainsFunc(part.facts.Shared, func(s sharedRef) bool { _, ok := p.known.shared[s.Sum]; return !ok })
}

func (p *Project) partitions() partitionStore { return partitionStore{partitionsDir(p.state)} }

// needsWhole reports whether a configuration has something that takes every partition
// compiled.
func needsWhole(cfg *lang.Config) bool {
	ofBenchmark := func(e *lang.Export) bool { return !slices.Contains(report.Formats(), e.Kind) }
	return slices.ContainsFunc(cfg.Exports, ofBenchmark) || slices.ContainsFunc(cfg.Suites, func(s *lang.Suite) bool { return s.StopAfter > 0 })
}

// stale reports whether some partition has to be compiled, or the suites are others.
func (p *Project) stale() bool {
	return slices.ContainsFunc(p.parts, func(part partState) bool { return part.facts == nil }) ||
		p.known.index == nil || p.known.index.Suites == nil || p.evaluated && !bytes.Equal(p.known.index.Suites, p.suites())
}

// suites encodes the suites of an evaluated configuration, and their cells in order.
func (p *Project) suites() []byte {
	var all bytes.Buffer
	for _, s := range p.Config.Suites {
		fmt.Fprintf(&all, "%q %d/%d\n", s.Name, s.ShardIndex, s.ShardCount)
		for _, c := range s.Cells {
			fmt.Fprintf(&all, "%+q\n", fmt.Sprint(plan.IDOf(c)))
		}
	}
	return salted(p.salt, all.Bytes())
}

// evaluate makes sure that the configuration is whole. Of one that was taken from the
// index, only what every call needs has been read.
func (p *Project) evaluate(ctx context.Context) error {
	if p.Config.Problems != nil || p.evaluated {
		return nil
	}
	if cfg, ok := readConfig(p.state, p.known.index.Config); ok {
		p.Config = cfg
		return nil
	}
	began := time.Now()
	cfg, warnings, err := p.options.load()
	if err != nil {
		return err
	}
	p.Config, p.evaluated, p.warnings, p.inputs = cfg, true, warnings, inputSightings(cfg.Inputs, began)
	p.recall(ctx, p.known.index) // its partitions may be others by now
	return nil
}

// depth says how much of a fresh partition a graph gets.
type depth int

const (
	summits depth = iota // the nodes of its cells, which suites need
	rows                 // every node, pinned to its answer
)

// compileStale compiles the partitions that are not fresh, and adds the others as deep as
// is wanted.
func (p *Project) compileStale(ctx context.Context, d depth) error {
	if err := p.evaluate(ctx); err != nil {
		return err
	}
	env := p.environment()
	env.Rows = func(part *plan.Partition) []graph.Row {
		at, ok := slices.BinarySearchFunc(p.parts, partRef{Problem: part.Problem, First: part.First}, func(a partState, b partRef) int { return comparePartRefs(a.partRef, b) })
		if !ok || p.parts[at].facts == nil {
			return nil
		}
		if d == summits {
			return p.parts[at].facts.Cells
		}
		known, err := p.rowsOf(&p.parts[at])
		if err != nil {
			p.parts[at].facts = nil // it is decided about instead
			return nil
		}
		return known
	}
	var err error
	if p.Plan, err = plan.Compile(p.Config, p.options.jobs(), env); err != nil {
		return fail(Usage, err)
	}
	p.depth = d
	return p.openLog()
}

// rowsOf reads the nodes of a fresh partition.
func (p *Project) rowsOf(part *partState) ([]graph.Row, error) {
	content, err := p.partitions().read(part.File, sectionRows)
	if err != nil {
		return nil, err
	}
	var known []graph.Row
	return known, frozen.Decode(string(content), &known)
}

// reopen gives up that some partitions are fresh and compiles them.
func (p *Project) reopen(ctx context.Context, which func(*partState) bool) (any bool, err error) {
	for at := range p.parts {
		if part := &p.parts[at]; part.facts != nil && which(part) {
			part.facts, any = nil, true
		}
	}
	if !any {
		return false, nil
	}
	return true, p.compileStale(ctx, p.depth)
}

// counts are of the nodes that a request is about.
type counts struct {
	nodes   int // all of them
	decided int // those that the engine decides about
	// What serving the others saves; see event.RunEnd.
	bytes   int64
	seconds float64
}

// count counts the nodes of some goals. Those of fresh partitions are in the graph, or
// counted by their partitions.
func (p *Project) count(g goals) (c counts) {
	if p.Plan == nil || p.depth == summits {
		c = p.countClosed()
	}
	if p.Plan == nil {
		return c
	}
	for _, id := range p.Plan.Graph.Closure(g.targets) {
		switch n := p.Plan.Graph.Node(id); {
		case n.Pinned == nil:
			c.nodes++
			c.decided++
		case p.depth == rows:
			c.nodes++
			c.seconds += n.Pinned.Seconds
			for _, o := range n.Pinned.Outputs {
				c.bytes += o.Digest.Size
			}
		}
	}
	return c
}

// countClosed counts the nodes that no graph has, because their partitions are fresh.
func (p *Project) countClosed() (c counts) {
	common := map[string]bool{}
	for _, part := range p.parts {
		if f := part.facts; f != nil {
			c.nodes, c.bytes, c.seconds = c.nodes+f.Own, c.bytes+f.SavedBytes, c.seconds+f.SavedSeconds
			for _, addr := range f.Common {
				common[addr] = true
			}
		}
	}
	for addr := range common {
		if p.Plan != nil {
			if id, ok := p.Plan.Graph.Lookup(addr); ok && p.Plan.Graph.Node(id).Pinned == nil {
				continue // counted with the graph's
			}
		}
		c.nodes++
	}
	if p.Plan == nil {
		c.nodes, c.bytes, c.seconds = c.nodes+p.known.index.SuiteNodes, c.bytes+p.known.index.SuiteBytes, c.seconds+p.known.index.SuiteTime
	}
	return c
}

// announce reports the nodes that the engine does not: to the record by partition where
// nothing of it is compiled, and one by one otherwise.
func (p *Project) announce(g goals, rec *recording, each bool) {
	if p.Plan == nil || p.depth == summits {
		for _, part := range p.parts {
			if f := part.facts; f != nil {
				rec.Emit(event.NodesSame{Type: "nodes.same", Problem: part.Problem, Partition: part.File.String(), Nodes: f.Own + len(f.Common)})
			}
		}
		return
	}
	for _, id := range p.Plan.Graph.Closure(g.targets) {
		if n := p.Plan.Graph.Node(id); n.Pinned != nil {
			done := n.PinnedEvent()
			rec.Emit(done)
			if each {
				rec.sinks[1:].Emit(done)
			}
		}
	}
}
