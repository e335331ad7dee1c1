package eval

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// Audited is the result of an audit.
type Audited struct {
	Stored    int              // checkpoint results that a run would serve
	Checked   int              // part of Stored that was executed again
	Different []AuditedResult  // results that differ from the stored ones
	Unjudged  []AuditedProblem // results that could not be produced again
	same      []AuditedResult  // the other results of Checked
}

// AuditedResult compares a stored result with a new one.
type AuditedResult struct {
	Addr   string `json:"addr"`
	Stored string `json:"stored"` // digest
	Made   string `json:"made"`   // digest
	// Causes are the dependencies whose inputs differ from those of the stored result, if known. It is empty if
	// all inputs are equal, as for flaky tests.
	Causes []string `json:"causes,omitempty"`

	dependencies func() map[string]*graph.Status // returns the nodes that the result depends on, by address
}

// AuditedProblem is a result that could not be produced again.
type AuditedProblem struct {
	Addr    string `json:"addr"`
	Message string `json:"message"`
}

// Audit executes a random sample of the stored checkpoint results again, in an empty store and without earlier
// answers, and compares the results. It executes the project.
func Audit(ctx context.Context, o Options, sample int) (*Audited, error) {
	stored, err := storedResults(ctx, o)
	if err != nil {
		return nil, err
	}
	var addrs []string
	for addr := range stored {
		addrs = append(addrs, addr)
	}
	slices.Sort(addrs)
	rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
	drawn := map[string]cache.Digest{}
	for _, addr := range addrs[:min(len(addrs), sample)] {
		drawn[addr] = stored[addr]
	}
	a, err := auditOf(ctx, o, drawn)
	if a != nil {
		a.Stored = len(stored)
	}
	return a, err
}

// auditOf executes nodes again, and compares their results with the expected digests.
func auditOf(ctx context.Context, o Options, want map[string]cache.Digest) (*Audited, error) {
	a := &Audited{Stored: len(want), Checked: len(want)}
	if len(want) == 0 {
		return a, nil
	}
	dir, err := os.MkdirTemp("", "fevalgraph-audit-")
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	defer os.RemoveAll(dir)
	o.Trusted = true // auditing a project executes it anyway
	return a, a.check(ctx, isolatedOptions(o, dir), want)
}

// isolatedOptions returns options with a store and state in dir, without remote caches.
func isolatedOptions(o Options, dir string) Options {
	was := o
	o.LookupEnv = func(name string) (string, bool) {
		switch name {
		case "FEVALGRAPH_DIR":
			return filepath.Join(dir, "state"), true
		case "FEVALGRAPH_CACHE_DIR":
			return filepath.Join(dir, "store"), true
		}
		return was.Getenv(name)
	}
	o.StoreReadOnly, o.Remotes = false, map[string]string{}
	return o
}

// storedResults returns the digests of checkpoint results that a run would serve, by node address.
func storedResults(ctx context.Context, o Options) (map[string]cache.Digest, error) {
	o.Trusted = true // auditing a project executes it anyway
	p, err := Open(ctx, o, Reading)
	if err != nil {
		return nil, err
	}
	defer p.call.close()
	targets, err := p.Targets(ctx, Selection{})
	if err != nil {
		return nil, err
	}
	x, err := p.goalsOf(targets).decide(ctx, false)
	if err != nil {
		return nil, err
	}
	stored := map[string]cache.Digest{}
	for _, cell := range p.Plan.Cells {
		for _, cc := range cell.Checkpoints {
			if st := x.rep.Status(cc.Aggregate); st.State == event.Cached {
				if o, ok := st.Output(tasks.ResultOutput); ok {
					stored[p.Plan.Graph.Node(cc.Aggregate).Addr] = o.Digest
				}
			}
		}
	}
	return stored, nil
}

// check executes nodes again and compares their results.
func (a *Audited) check(ctx context.Context, o Options, stored map[string]cache.Digest) (err error) {
	addrs := slices.Sorted(maps.Keys(stored))
	p, err := Open(ctx, o, Writing)
	if err != nil {
		return err
	}
	defer func() { err = p.call.closeAfter(err) }()
	var targets []graph.ID
	for _, addr := range addrs {
		id, ok := p.Plan.Graph.Lookup(addr)
		if !ok {
			return exit.With(exit.NotJudged, fmt.Errorf("the configuration no longer has %s, which has a stored result", addr))
		}
		targets = append(targets, id)
	}
	rep, err := p.bringUpToDate(ctx, targets)
	if err != nil {
		return exit.With(exit.NotJudged, err)
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	for at, id := range targets {
		st := rep.Status(id)
		made, ok := st.Output(tasks.ResultOutput)
		switch {
		case !ok:
			if culprit, ok := p.Plan.Graph.Lookup(st.Culprit); ok {
				st = rep.Status(culprit)
			}
			a.Unjudged = append(a.Unjudged, AuditedProblem{addrs[at], causeOf(st)})
		default:
			one := AuditedResult{Addr: addrs[at], Stored: stored[addrs[at]].String(), Made: made.Digest.String(), dependencies: func() map[string]*graph.Status {
				below := map[string]*graph.Status{}
				for _, on := range p.Plan.Graph.Closure([]graph.ID{id}) {
					below[p.Plan.Graph.Node(on).Addr] = rep.Status(on)
				}
				return below
			}}
			if one.Made != one.Stored {
				a.Different = append(a.Different, one)
			} else {
				a.same = append(a.same, one)
			}
		}
	}
	return nil
}
