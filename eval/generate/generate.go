package generate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/gen"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/lang"
)

// Request specifies what to make. The zero value means everything without an answer.
type Request struct {
	Selectors []string // selectors of solutions to make; empty means all
	Missing   bool     // keep existing files, regardless of what they were made from
	Again     bool     // request again what is answered
	MaxCost   float64  // dollars; 0 means no limit
	DryRun    bool     // send and write nothing
	Progress  event.Sink
}

// Outcome is the result of a call.
type Outcome struct {
	Exit   exit.Class
	Root   string       // directory of the configuration
	Placed []gen.Placed // results of the selected steps, in order
	Asked  gen.Usage    // usage of this call
	Priced bool         // whether every used generator has a price
	End    event.RunEnd
	// Planned lists the requests that a call would send. Only a dry run sets it and Known.
	Planned []Planned
	Known   int // answered steps
}

// call is one call of the package.
type call struct {
	o       options.Options
	r       Request
	cfg     *lang.Config
	all     []*gen.Generator
	batch   *gen.Batch
	targets []graph.ID
	store   *cache.Disk
	last    partition.Lasts // last answers of nodes
	run     string
}

// Run makes solutions. The Outcome is nil if nothing was done. An error with an Outcome explains why it is
// incomplete; missing answers of models are reported only in the Outcome.
func Run(ctx context.Context, o options.Options, r Request) (out *Outcome, err error) {
	records := o.RecordsIn(options.AnswersDir(o.StateDir()), false)
	c := &call{o: o, r: r, run: event.NextRunID(records, time.Now(), uint16(rand.Uint32()))}
	loading := o
	loading.Notify = nil // warnings are about evaluation, and there is nothing to evaluate yet
	if c.cfg, err = loading.Load(); err != nil {
		return nil, err
	}
	if err := c.choose(); err != nil {
		return nil, err
	}
	if err := c.open(); err != nil {
		return nil, err
	}
	planned, err := c.batch.Graph.Execute(ctx, c.targets, c.options(true))
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	if r.DryRun {
		return c.plan(planned), nil
	}
	if err := c.equip(c.staleGenerators(planned)); err != nil {
		return nil, err
	}
	return c.execute(ctx)
}

// choose makes the graph and selects steps.
func (c *call) choose() error {
	if len(c.cfg.Generators) == 0 {
		return exit.Unmatched("the configuration has no generator block")
	}
	budget := &gen.Budget{Max: c.r.MaxCost}
	for _, g := range c.cfg.Generators {
		c.all = append(c.all, &gen.Generator{Generator: g, Who: identify(c.cfg, g), Model: unready{}, Keys: noKeys(), Budget: budget})
	}
	var keep func(*gen.Step) bool
	if c.r.Missing {
		keep = func(s *gen.Step) bool { there, _ := s.Present(); return there }
	}
	c.batch = gen.New(c.all, keep)
	selector, err := graph.ParseSelector(c.r.Selectors, gen.Axes())
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	matched, unanswered := false, map[*gen.Step]bool{}
	for _, s := range c.batch.Steps {
		if _, failed := s.Present(); c.r.Missing && (failed && s.Answer >= 0 || unanswered[s.Before]) {
			unanswered[s] = true // the model gave no useful answer
		}
		n := c.batch.Graph.Node(s.Files)
		if !selector.Empty() && !selector.Match(n.Addr, func(axis string) []string { return []string{n.Label(axis)} }) && !selector.Match(s.Name(), func(axis string) []string { return []string{n.Label(axis)} }) {
			continue
		}
		if matched = true; !unanswered[s] {
			c.targets = append(c.targets, s.Files)
		}
	}
	if !matched {
		var names []string
		for _, g := range c.cfg.Generators {
			names = append(names, g.Name)
		}
		return exit.Unmatched("%s selects no solution of a generator; generators are %s", strings.Join(c.r.Selectors, " "), strings.Join(names, ", "))
	}
	return nil
}

func (c *call) open() (err error) {
	state := c.o.StateDirOf(c.cfg.Root)
	if !c.r.DryRun {
		if err := options.MakeState(state); err != nil {
			return exit.With(exit.Usage, fmt.Errorf("creating the state directory: %w", options.HintStateDir(err)))
		}
	}
	signer, err := c.o.RecordKey(!c.r.DryRun)
	if err != nil {
		return err
	}
	dir := options.AnswersDir(state)
	if c.store, err = cache.OpenDisk(dir, cache.Options{ReadOnly: c.r.DryRun, Signer: signer}); err != nil {
		return exit.With(exit.NotJudged, err)
	}
	c.last = partition.ReadLast(dir, c.sealed()).ByAddress(partition.Store{}, nil)
	return nil
}

func (c *call) sealed() proof.Place { return c.o.Place(c.o.StateDirOf(c.cfg.Root), !c.r.DryRun) }

// remember stores the last answers of a call's nodes, and keeps those of other nodes.
func (c *call) remember(rep *graph.Report) error {
	for id := range graph.ID(c.batch.Graph.Len()) {
		if last := rep.Last(id); !last.Key.IsZero() || last.Broken != "" {
			c.last[last.Addr] = &last
		}
	}
	all := new(partition.Last)
	for _, addr := range slices.Sorted(maps.Keys(c.last)) {
		all.Nodes = append(all.Nodes, *c.last[addr])
	}
	return all.Write(c.answers(), c.sealed())
}

func (c *call) answers() string { return options.AnswersDir(c.o.StateDirOf(c.cfg.Root)) }

// options returns the options of an execution.
func (c *call) options(dry bool) graph.Options {
	o := graph.Options{Store: c.store, Locker: c.store, Last: c.last.Of, Run: c.run, Preview: graph.Preview{DryRun: dry}, Pools: map[string]int{graph.CPUPool: c.o.RunJobs()}}
	for _, g := range c.all {
		o.Pools[g.Ref] = slots(g.Generator)
	}
	if c.r.Again {
		selected := map[graph.ID]bool{}
		for _, id := range c.targets {
			selected[id] = true
		}
		again := map[string]bool{}
		for _, s := range c.batch.Steps {
			if s.Answer >= 0 && selected[s.Files] {
				again[c.batch.Graph.Node(s.Answer).Addr] = true
			}
		}
		o.Force = func(n *graph.Node) bool { return again[n.Addr] }
	}
	return o
}

// staleGenerators returns the generators that need a request.
func (c *call) staleGenerators(planned *graph.Report) []*gen.Generator {
	asked := map[*gen.Generator]bool{}
	for _, s := range c.batch.Steps {
		if s.Answer >= 0 && planned.Status(s.Answer).Stale {
			asked[s.Generator] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(c.all), func(g *gen.Generator) bool { return !asked[g] })
}

func (c *call) execute(ctx context.Context) (*Outcome, error) {
	record, err := event.NewRecorder(c.o.RecordsIn(c.answers(), true), c.run)
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	sink := event.Sinks{record}
	if c.r.Progress != nil {
		sink = append(sink, c.r.Progress)
	}
	nodes := len(c.batch.Graph.Closure(c.targets))
	sink.Emit(event.RunStart{Type: "run.start", Schema: event.Schema, Run: c.run, Version: c.o.Version, Nodes: nodes, Time: time.Now(),
		Jobs: c.o.RunJobs(), Selection: strings.Join(append([]string{"gen"}, c.r.Selectors...), " ")})
	o := c.options(false)
	o.Sink, o.SaveLog = sink, record.SaveLog
	rep, err := c.batch.Graph.Execute(ctx, c.targets, o)
	out := &Outcome{Root: c.cfg.Root, Priced: true}
	err = errors.Join(err, c.remember(rep), c.place(context.WithoutCancel(ctx), rep, out))
	for _, p := range out.Placed {
		sink.Emit(c.event(p))
	}
	for _, g := range c.all {
		u := g.Asked()
		out.Asked.Add(u)
		out.Priced = out.Priced && (u.Requests == 0 || g.Price != nil)
	}
	out.Exit = exitOf(ctx, rep, out, err)
	out.End = rep.End(c.run)
	out.End.Exit = int(out.Exit)
	sink.Emit(out.End)
	if err = errors.Join(err, record.Close()); err != nil {
		return out, exit.With(out.Exit, err)
	}
	return out, nil
}

// place writes the files, of one call after the other.
func (c *call) place(ctx context.Context, rep *graph.Report, out *Outcome) error {
	lock, err := lockedfile.Wait(ctx, filepath.Join(c.answers(), "placing"))
	if err != nil {
		return fmt.Errorf("waiting for another call that writes solutions: %w", err)
	}
	out.Placed, err = c.batch.Place(ctx, rep, c.store)
	return errors.Join(err, lock.Close())
}

// event returns the event for the result of a step.
func (c *call) event(p gen.Placed) event.Generated {
	s := p.Step
	place := c.cfg.Relative(filepath.Join(s.Generator.Directory, filepath.FromSlash(s.Place)))
	e := event.Generated{Type: "generated", Generator: s.Generator.Name, Problem: s.Problem.Name, Checkpoint: s.Checkpoint.Name, Attempt: s.Attempt,
		Path: place, Outcome: string(p.Outcome), Asked: p.Asked, Reason: p.Reason, InputTokens: p.Usage.InputTokens, OutputTokens: p.Usage.OutputTokens}
	if s.Generator.Price != nil {
		e.Cost = &p.Usage.Cost
	}
	return e
}

// exitOf applies the rules of the exit codes.
func exitOf(ctx context.Context, rep *graph.Report, out *Outcome, err error) exit.Class {
	class := exit.OfExecution(ctx, rep, err)
	if class == exit.Passed && slices.ContainsFunc(out.Placed, func(p gen.Placed) bool { return p.Outcome == gen.Unusable }) {
		class = exit.Failed
	}
	return class
}
