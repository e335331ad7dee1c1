package eval

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/shards"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
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
}

// Trace learns where the time of a run goes, and receives its events.
type Trace interface {
	event.Sink
	graph.Profile
	// Phase is called when a phase of the run ends that began at a time.
	Phase(name string, began time.Time)
}

// Run evaluates: it loads what changed, compiles it, executes what is stale and
// collects the results. The Outcome is nil when nothing was executed. An error
// beside an Outcome says what kept it from being recorded or exported; that
// something failed or broke is in the Outcome alone.
func Run(ctx context.Context, o Options, r Request) (*Outcome, error) {
	f, err := openChanged(ctx, o, Writing)
	if err != nil {
		return nil, err
	}
	return f.runRequest(ctx, r)
}

// runRequest does the work of Run, and closes the call.
func (f *freshness) runRequest(ctx context.Context, r Request) (out *Outcome, err error) {
	defer func() { err = f.closeAfter(err) }()
	g, err := f.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	g.noteInvalid()
	if wanted, jobs := f.options.WantedJobs(), f.options.RunJobs(); jobs < wanted && len(g.targets) > 0 {
		f.options.Note(options.JobsReduced{Wanted: wanted, Jobs: jobs, Limit: options.DescriptorLimit()})
	}
	rec, err := g.record()
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	rec.phase("configuration and graph", f.began)

	executing := time.Now()
	x, results, err := g.execute(ctx, rec)
	rec.phase("decisions and work", executing)

	collecting := time.Now()
	out = x.outcome(ctx, results, err)
	var saving errgroup.Group // of what only saves time
	saving.Go(f.files.Save)
	if results != nil {
		err = errors.Join(err, x.save(context.WithoutCancel(ctx), rec, results, ctx.Err() == nil))
	}
	out.worsen(err)
	rec.sinks.Emit(out.End)
	rec.phase("results", collecting)
	err = errors.Join(err, rec.Close(), saving.Wait())
	out.worsen(err)
	f.stores.Flush(ctx)
	if err != nil {
		return out, exit.With(out.Exit, err)
	}
	return out, nil
}

// save writes the results into the record, what the next run can rely on if that is to be
// kept, and the exports.
func (x *execution) save(ctx context.Context, rec *recording, results *collected, keep bool) error {
	partitions, err := x.remember(ctx, results, keep)
	var tasks json.RawMessage
	if err == nil {
		tasks, err = encodeTasks(results.tasks)
	}
	if err == nil {
		err = rec.SaveManifest(partitions, tasks)
	}
	if err == nil {
		err = x.publish(ctx)
	}
	if err != nil || len(x.Config.Exports) == 0 {
		return err
	}
	whole, err := results.results()
	rep := x.rep
	if err == nil && !x.request.everything() {
		whole, rep, err = x.completed(ctx, whole)
	}
	if err != nil {
		return err
	}
	return x.export(ctx, rep, whole)
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

// recording is the record of a run that goes on, and all that receives its events.
type recording struct {
	*event.Recorder
	sinks event.Sinks
	trace Trace // nil is none
}

// record begins the record of a run. Progress hears of the nodes that are decided about,
// the record of all of them.
func (g *goals) record() (*recording, error) {
	recorder, err := event.NewRecorder(g.records, g.run)
	if err != nil {
		return nil, err
	}
	r := &g.request
	rec := &recording{Recorder: recorder, sinks: event.Sinks{recorder}, trace: r.Trace}
	if r.Progress != nil {
		rec.sinks = append(rec.sinks, r.Progress)
	}
	if r.Trace != nil {
		rec.sinks = append(rec.sinks, r.Trace)
	}
	c := g.count()
	start := event.RunStart{Type: "run.start", Schema: event.Schema, Run: g.run, Version: g.options.Version, Nodes: c.nodes,
		Time: time.Now(), Jobs: g.options.RunJobs(), Selection: r.words(), Shard: r.Shard, Divided: r.Cells != "",
		Partial: r.partial(), AdHoc: g.options.AddsSolutions()}
	recorder.Emit(start)
	if r.merged != nil {
		r.merged.Replay(recorder)
		rec.sinks[0] = r.merged.Sink(recorder)
	}
	if !r.EachNode {
		start.Nodes = c.decided
	}
	rec.sinks[1:].Emit(start)
	g.announce(rec)
	return rec, nil
}

func (r *recording) phase(name string, began time.Time) {
	if r.trace != nil {
		r.trace.Phase(name, began)
	}
}
