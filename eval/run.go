package eval

import (
	"context"
	"errors"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Request says what to evaluate, and how. The zero value is everything that is
// stale.
type Request struct {
	Selection
	Force    []string        // selectors of nodes that run even when they are fresh
	Retry    []string        // statuses of last results that are asked again: broken, timeout, error
	Shard    string          // I/N: only the Ith of N parts of the cells; "" is all
	FailFast bool            // start nothing new after the first failure
	Policy   *verdict.Policy // of the exit class; nil is each checkpoint's own
	Progress event.Sink      // receives the events of the run; may be nil
	Trace    Trace           // learns where time goes; may be nil
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

// Run evaluates: it loads the configuration, compiles it, executes what is stale
// and collects the results. The Outcome is nil when nothing was executed. An error
// beside an Outcome says what kept it from being recorded or exported; that
// something failed or broke is in the Outcome alone.
func Run(ctx context.Context, o Options, r Request) (out *Outcome, err error) {
	began := time.Now()
	p, err := Open(ctx, o, Writing) // loads and compiles
	if err != nil {
		return nil, err
	}
	defer func() { err = p.closeAfter(err) }()
	g, err := p.goals(ctx, r)
	if err != nil {
		return nil, err
	}
	if invalid := p.invalidAmong(g.targets); len(invalid) > 0 {
		o.notify(InvalidProblems{invalid})
	}
	rec, err := p.record(r, len(p.Plan.Graph.Closure(g.targets)))
	if err != nil {
		return nil, fail(NotJudged, err)
	}
	rec.phase("configuration and graph", began)

	executing := time.Now()
	rep, results, err := p.execute(ctx, r, g, rec)
	rec.phase("decisions and work", executing)

	collecting := time.Now()
	out = p.collect(ctx, r, rep, results, err)
	var saving errgroup.Group // of what only saves time
	saving.Go(p.index.Save)
	err = errors.Join(err, rec.saveResults(results), p.export(context.WithoutCancel(ctx), rep, results))
	out.worsen(err)
	rec.sinks.Emit(out.End)
	rec.phase("results", collecting)
	err = errors.Join(err, rec.Close(), saving.Wait())
	out.worsen(err)
	if err != nil {
		return out, fail(out.Exit, err)
	}
	return out, nil
}

// goals turns a request into nodes.
func (p *Project) goals(ctx context.Context, r Request) (g goals, err error) {
	if g.targets, err = p.Targets(ctx, r.Selection); err != nil {
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
	if r.Shard != "" {
		g.targets, err = p.shard(g.targets, r.Shard)
	}
	return g, err
}

// recording is the record of a run that goes on, and all that receives its events.
type recording struct {
	*event.Recorder
	sinks event.Sinks
	trace Trace // nil is none
}

// record begins the record of a run of so many nodes.
func (p *Project) record(r Request, nodes int) (*recording, error) {
	recorder, err := event.NewRecorder(p.state, p.run)
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
	rec.sinks.Emit(event.RunStart{Type: "run.start", Schema: event.Schema, Run: p.run, Version: p.options.Version, Nodes: nodes,
		Time: time.Now(), Jobs: p.Plan.Pools[graph.CPUPool]})
	local.SpareProcessor()
	return rec, nil
}

func (r *recording) phase(name string, began time.Time) {
	if r.trace != nil {
		r.trace.Phase(name, began)
	}
}

// saveResults writes the results into the record; nil is none.
func (r *recording) saveResults(results *report.Results) error {
	if results == nil {
		return nil
	}
	return r.SaveResults(func(w io.Writer) error { return report.Write(w, "json", results, report.Options{}) })
}
