package eval

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// Two versions of a project are compared by the keys of nodes with the same address, which takes no store: a dry run over
// the old version pretends that every task succeeds, and one over the new version finds the answers of the first.

// version is a compiled version of a project.
type version struct {
	plan     *plan.Plan
	targets  []graph.ID
	pretends bool                   // every node gets a key and a manifest, as if all tasks succeeded
	rename   *strings.Replacer      // of paths in manifests, so that those of another version are equal; can be nil
	force    func(*graph.Node) bool // nil forces no node
	rep      *graph.Report          // of decide
}

// decide makes a dry run over the targets as after a run of another version; nil means that there was none.
func (v *version) decide(ctx context.Context, after *version) (err error) {
	was := newAnswers(after)
	v.rep, err = v.plan.Graph.Execute(requirements.AsItIs(ctx), v.targets, graph.Options{
		Store: was, Last: was.last, Pools: v.plan.Pools, Hooks: graph.Hooks{Force: v.force},
		Preview: graph.Preview{DryRun: true, Pretend: v.pretends, Manifests: v.pretends, Rename: v.rename},
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return exit.With(exit.NotJudged, err)
	}
	return nil
}

// answers is a store that has the answers of a version, and no content.
type answers struct {
	*cache.Memory
	byKey  map[cache.Key]*cache.Record
	byAddr map[string]graph.Last
}

// newAnswers returns the answers of a version that pretends; nil has none.
func newAnswers(v *version) *answers {
	a := &answers{cache.NewMemory(), map[cache.Key]*cache.Record{}, map[string]graph.Last{}}
	if v == nil {
		return a
	}
	for _, id := range v.rep.Nodes {
		st := v.rep.Status(id)
		if !st.Stale { // it has no answer
			continue
		}
		a.byKey[st.Key] = &cache.Record{Class: cache.ClassDone, Outputs: st.Outputs, Manifest: st.Manifest}
		addr := v.plan.Graph.Node(id).Addr
		a.byAddr[addr] = graph.Last{Addr: addr, Answer: graph.Answer{Key: st.Key, Class: cache.ClassDone, Outputs: st.Outputs}, Store: a.ID()}
	}
	return a
}

func (a *answers) last(addr string) graph.Last { return a.byAddr[addr] }

// Has implements cache.Store.
func (a *answers) Has(context.Context, cache.Digest) (bool, error) { return true, nil }

// Record implements cache.Store.
func (a *answers) Record(_ context.Context, k cache.Key) (*cache.Record, error) {
	return a.byKey[k], nil
}

// earlierVersion decides about all nodes of the project in root as of a commit. The work tree must have no uncommitted changes;
// what git does not track counts as it is, without the state directory. The files of the commit exist until remove.
func earlierVersion(ctx context.Context, o Options, ref, root, state string) (v *version, remove func() error, err error) {
	remove = func() error { return nil }
	at, err := checkOutProject(ctx, &o, ref, state)
	if err != nil {
		return nil, remove, exit.With(exit.Usage, fmt.Errorf("--since %s: %w", ref, err))
	}
	then, err := at.options(&o)
	if err != nil {
		return nil, at.remove, exit.With(exit.Usage, err)
	}
	then.Notify = nil
	f, err := openWith(ctx, then, Reading, nil)
	var mistakes diag.List
	if errors.As(err, &mistakes) { // as text: these are not errors of the project
		return nil, at.remove, exit.With(exit.Usage, fmt.Errorf("the configuration at %s has errors, so it cannot be compared: %s", ref, text.FirstLine(mistakes.Error())))
	}
	if err != nil {
		return nil, at.remove, fmt.Errorf("opening the project at %s: %w", ref, err)
	}
	defer f.call.close()
	f.call.trust = o.OpenTrust()
	p, err := f.compile(ctx, true)
	if err != nil {
		return nil, at.remove, err
	}
	rename := strings.NewReplacer(f.call.Config.Root, root, at.base, "")
	v = &version{plan: p.Plan, targets: everyNode(p.Plan.Graph), pretends: true, rename: rename}
	return v, at.remove, v.decide(ctx, nil)
}

// checkOutProject writes the repository of a project as of a commit, with what git does not track, except for the project's
// state.
func checkOutProject(ctx context.Context, o *Options, ref, state string) (c *checkedOut, err error) {
	g, err := repository(ctx, options.Absolute(o.ProjectDir()))
	if err == nil {
		err = g.clean(ctx)
	}
	if err != nil {
		return nil, err
	}
	if c, err = g.checkOut(ctx, ref); err != nil {
		return nil, err
	}
	if err := g.copyUntracked(ctx, c, state); err != nil {
		return nil, errors.Join(err, c.remove())
	}
	return c, nil
}
