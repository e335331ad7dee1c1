package eval

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/shards"
	"github.com/fevalgraph/fevalgraph/eval/validate"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Options name a project and what a call may use of the outside world.
type Options = options.Options

// Request says what to evaluate, and how. The zero value is everything that is
// stale.
type Request struct {
	Selection
	Force    []string        // selectors of nodes that run even when they are fresh
	Retry    []string        // statuses of last results that are asked again: broken, timeout, error
	Shard    string          // I/N: only the Ith of N parts of the cells; "" is all
	Cells    string          // file with the names of the cells to keep, of which Shard may take a part; "" is all
	FailFast bool            // start nothing new after the first failure
	EachNode bool            // Progress receives an event for each node, however many are fresh
	Policy   *verdict.Policy // of the exit class; nil is each checkpoint's own
	Progress event.Sink      // receives the events of the run; may be nil
	Trace    Trace           // learns where time goes; may be nil
	merged   *shards.Merged  // what other machines did; nil runs everything here
	read     func(*Project)  // is called before the project is closed; may be nil
}

// Trace learns where the time of a run goes, and receives its events.
type Trace interface {
	event.Sink
	graph.Profile
	// Phase is called when a phase of the run ends that began at a time.
	Phase(name string, began time.Time)
}

// goals are the nodes of a request.
type goals struct {
	targets []graph.ID
	force   func(*graph.Node) bool // nil forces none
}

// Run evaluates: it loads what changed, compiles it, executes what is stale and
// collects the results. The Outcome is nil when nothing was executed. An error
// beside an Outcome says what kept it from being recorded or exported; that
// something failed or broke is in the Outcome alone.
func Run(ctx context.Context, o Options, r Request) (out *Outcome, err error) {
	began := time.Now()
	p, err := openChanged(ctx, o, Writing)
	if err != nil {
		return nil, err
	}
	defer func() { err = p.closeAfter(err) }()
	if r.read != nil {
		defer r.read(p)
	}
	g, err := p.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	if invalid := p.invalidAmong(g.targets); len(invalid) > 0 {
		o.Note(options.InvalidProblems{Diagnostics: invalid})
	}
	if wanted, jobs := o.WantedJobs(), o.RunJobs(); jobs < wanted && len(g.targets) > 0 {
		o.Note(options.JobsReduced{Wanted: wanted, Jobs: jobs, Limit: options.DescriptorLimit()})
	}
	rec, err := p.record(r, g)
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	rec.phase("configuration and graph", began)

	executing := time.Now()
	rep, results, err := p.execute(ctx, r, &g, rec)
	rec.phase("decisions and work", executing)

	collecting := time.Now()
	out = p.collect(ctx, r, g, rep, results, err)
	var saving errgroup.Group // of what only saves time
	saving.Go(p.index.Save)
	if results != nil {
		err = errors.Join(err, p.save(context.WithoutCancel(ctx), r, rec, rep, results, ctx.Err() == nil))
	}
	out.worsen(err)
	rec.sinks.Emit(out.End)
	rec.phase("results", collecting)
	err = errors.Join(err, rec.Close(), saving.Wait())
	out.worsen(err)
	p.stores.Flush(ctx)
	if err != nil {
		return out, exit.With(out.Exit, err)
	}
	return out, nil
}

// save writes the results into the record, what the next run can rely on if that is to be
// kept, and the exports.
func (p *Project) save(ctx context.Context, r Request, rec *recording, rep *graph.Report, results *collected, keep bool) error {
	partitions, err := p.remember(ctx, rep, results, keep)
	if err == nil {
		err = rec.SaveManifest(partitions)
	}
	if err == nil {
		err = p.publish(ctx, rep)
	}
	if err != nil || len(p.Config.Exports) == 0 {
		return err
	}
	whole, err := results.results()
	if err == nil && !r.everything() {
		whole, rep, err = p.completed(ctx, whole, rep)
	}
	if err != nil {
		return err
	}
	return p.export(ctx, rep, whole)
}

// everything reports whether a request is for all nodes, and Progress does not hear of
// each of them.
func (r *Request) everything() bool {
	return !r.partial() && len(r.Force) == 0 && !r.EachNode
}

// partial reports whether a request leaves nodes out.
func (r *Request) partial() bool {
	return len(r.Targets)+len(r.Only)+len(r.Not) > 0 || r.Pairs != "" || r.Shard != "" || r.Cells != ""
}

// words are a request in the words of the command line, cut to what a line can take.
func (r *Request) words() string {
	if r.merged != nil {
		return "merge of " + text.Count(r.merged.Len(), "run")
	}
	words := slices.Clone(r.Targets)
	for _, flag := range []struct {
		name string
		args []string
	}{{"--only ", r.Only}, {"--not ", r.Not}, {"--force ", r.Force}} {
		for _, arg := range flag.args {
			words = append(words, flag.name+arg)
		}
	}
	if len(r.Retry) > 0 {
		words = append(words, "--retry "+strings.Join(r.Retry, ","))
	}
	if r.Pairs != "" {
		words = append(words, "--pairs "+r.Pairs)
	}
	if r.Cells != "" {
		words = append(words, "--cells "+r.Cells)
	}
	if r.Shard != "" {
		words = append(words, "--shard "+r.Shard)
	}
	const longest = 1000
	return text.Line(strings.Join(words, " "), longest)
}

// prepare compiles what a request takes, and turns it into nodes.
func (p *Project) prepare(ctx context.Context, r Request) (g goals, err error) {
	if err := checkRetry(r.Retry); err != nil {
		return g, err
	}
	_, err = p.drop(ctx, func(part *partState) bool {
		again := func(row report.CellRow) bool { return row.Unjudged > 0 }
		// The first failure counts, whichever run it is of.
		return r.FailFast || len(r.Retry) > 0 && slices.ContainsFunc(part.facts.Summary, again)
	})
	if err != nil {
		return g, err
	}
	switch {
	case !r.everything():
		if err = p.dropReaders(ctx, slices.Concat(r.Targets, r.Only, r.Not, r.Force)); err != nil {
			return g, err
		}
		if err = p.compile(ctx, true); err == nil {
			err = p.reopenForced(ctx, r)
		}
	case p.stale():
		err = p.compile(ctx, false)
	default:
		p.compileNothing()
	}
	if err != nil {
		return g, err
	}
	return p.goals(ctx, r)
}

// reopenForced compiles the partitions with nodes that a request has run again.
func (p *Project) reopenForced(ctx context.Context, r Request) error {
	force, err := p.matcher(ctx, r.Force)
	if err != nil || force == nil {
		return err
	}
	if err := p.eachMatches(ctx, "--force ", r.Force); err != nil {
		return err
	}
	problems := map[string]bool{}
	for id := range graph.ID(p.Plan.Graph.Len()) {
		if n := p.Plan.Graph.Node(id); n.Pinned != nil && force(n) {
			problems[n.Label("problem")] = true
		}
	}
	_, err = p.reopen(ctx, func(part *partState) bool {
		return problems[part.Problem] || problems[""] // a node of no problem may be any partition's
	})
	return err
}

// goals turns a request into nodes.
func (p *Project) goals(ctx context.Context, r Request) (g goals, err error) {
	if g.targets, err = p.Targets(ctx, r.Selection); err != nil {
		return g, err
	}
	if g.targets, err = p.withoutSums(r.Targets, g.targets); err != nil {
		return g, err
	}
	if g.force, err = p.matcher(ctx, r.Force); err != nil {
		return g, err
	}
	again, err := p.retried(ctx, r.Retry)
	if err != nil {
		return g, err
	}
	g.force = either(g.force, again)
	if r.Shard != "" || r.Cells != "" {
		part := shards.Part{Shard: r.Shard, Cells: r.Cells, Path: p.options.Path(r.Cells)}
		if g.targets, err = part.Keep(p.Plan, g.targets); err != nil {
			return g, exit.With(exit.Usage, err)
		}
	}
	return g, nil
}

// recording is the record of a run that goes on, and all that receives its events.
type recording struct {
	*event.Recorder
	sinks event.Sinks
	trace Trace // nil is none
}

// record begins the record of a run. Progress hears of the nodes that are decided about,
// the record of all of them.
func (p *Project) record(r Request, g goals) (*recording, error) {
	recorder, err := event.NewRecorder(p.records, p.run)
	if err != nil {
		return nil, err
	}
	rec := &recording{Recorder: recorder, sinks: event.Sinks{recorder}, trace: r.Trace}
	if r.Progress != nil {
		rec.sinks = append(rec.sinks, r.Progress)
	}
	if r.Trace != nil {
		rec.sinks = append(rec.sinks, r.Trace)
	}
	c := p.count(g)
	start := event.RunStart{Type: "run.start", Schema: event.Schema, Run: p.run, Version: p.options.Version, Nodes: c.nodes,
		Time: time.Now(), Jobs: p.options.RunJobs(), Selection: r.words(), Shard: r.Shard, Divided: r.Cells != "",
		Partial: r.partial(), AdHoc: p.options.AdHoc != nil || p.options.References > 0}
	recorder.Emit(start)
	if r.merged != nil {
		r.merged.Replay(recorder)
		rec.sinks[0] = r.merged.Sink(recorder)
	}
	if !r.EachNode {
		start.Nodes = c.decided
	}
	rec.sinks[1:].Emit(start)
	p.announce(g, rec, r.EachNode)
	return rec, nil
}

func (r *recording) phase(name string, began time.Time) {
	if r.trace != nil {
		r.trace.Phase(name, began)
	}
}

// invalidAmong are the findings about those among the targets and what they
// need.
func (p *Project) invalidAmong(targets []graph.ID) diag.List {
	asked := map[string]bool{}
	for _, id := range p.Plan.Graph.Closure(targets) {
		if n := p.Plan.Graph.Node(id); n.Kind == plan.KindProblem {
			asked[n.Label("problem")] = true
		}
	}
	return validate.InvalidOf(p.Config, func(problem *lang.Problem) bool { return asked[problem.Name] })
}
