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
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Options names a project, and the parts of the environment that a call can use.
type Options = options.Options

// Request specifies what to evaluate, and how. The zero value selects everything that is stale.
type Request struct {
	Selection
	Force    []string        // selectors of nodes that run even if they are fresh
	Retry    []string        // statuses of last results to execute again: broken, timeout, error
	Shard    string          // I/N selects the Ith of N parts of the cells; "" means all
	Cells    string          // file with names of cells to select; Shard can take a part of them; "" means all
	FailFast bool            // start nothing new after the first failure
	EachNode bool            // Progress receives an event for each node, regardless of the number of fresh ones
	Policy   *verdict.Policy // for the exit class; nil uses each checkpoint's own policy
	Progress event.Sink      // receives the events of the run; can be nil
	merged   *shards.Merged  // results of other machines; nil runs everything here
}

// Run evaluates a project: it loads changed files, compiles them, executes stale nodes and collects the
// results. The Outcome is nil if nothing was executed. An error next to an Outcome means that recording or
// exporting failed; failed and broken nodes are reported only in the Outcome.
func Run(ctx context.Context, o Options, r Request) (*Outcome, error) {
	f, err := openChanged(ctx, o, Writing)
	if err != nil {
		return nil, err
	}
	return f.runRequest(ctx, r)
}

// runRequest implements Run, and closes the call.
func (f *freshness) runRequest(ctx context.Context, r Request) (out *Outcome, err error) {
	defer func() { err = f.call.closeAfter(err) }()
	g, err := f.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	g.noteInvalid()
	if wanted, jobs := f.call.options.WantedJobs(), f.call.options.RunJobs(); jobs < wanted && len(g.targets) > 0 {
		f.call.options.Note(options.JobsReduced{Wanted: wanted, Jobs: jobs, Limit: options.DescriptorLimit()})
	}
	rec, err := g.record()
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	x, results, err := g.execute(ctx, rec)
	out = x.outcome(ctx, results, err)
	var saving errgroup.Group // for things that only save time
	saving.Go(f.call.files.Save)
	if results != nil {
		err = errors.Join(err, x.save(context.WithoutCancel(ctx), rec, results, ctx.Err() == nil))
	}
	out.worsen(err)
	rec.sinks.Emit(out.End)
	err = errors.Join(err, rec.Close(), saving.Wait())
	out.worsen(err)
	f.call.stores.Flush(ctx)
	if err != nil {
		return out, exit.With(out.Exit, err)
	}
	return out, nil
}

// save writes the results to the record, the state for the next run if keep is set, and the exports.
func (x *execution) save(ctx context.Context, rec *recording, results *collected, keep bool) error {
	partitions, err := results.written.remember(ctx, results, keep)
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
	if err != nil || len(x.call.Config.Exports) == 0 {
		return err
	}
	whole, err := results.results()
	rep := x.rep
	if err == nil && !x.goals.request.everything() {
		whole, rep, err = x.withLastResults(ctx, whole)
	}
	if err != nil {
		return err
	}
	return x.export(ctx, rep, whole)
}

// everything reports whether a request is for all nodes, and does not report each of them to Progress.
func (r *Request) everything() bool {
	return !r.partial() && len(r.Force) == 0 && !r.EachNode
}

// partial reports whether a request leaves nodes out.
func (r *Request) partial() bool {
	return len(r.Targets)+len(r.Only)+len(r.Not) > 0 || r.Pairs != "" || r.Shard != "" || r.Cells != ""
}

// words returns a request as on the command line, shortened to a line.
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

// recording is the record of a running run, with all receivers of its events.
type recording struct {
	*event.Recorder
	sinks event.Sinks
}

// record begins the record of a run. Progress receives the events of decided nodes, the record those of all
// nodes.
func (g *goals) record() (*recording, error) {
	recorder, err := event.NewRecorder(g.call.records, g.call.run)
	if err != nil {
		return nil, err
	}
	r := &g.request
	rec := &recording{Recorder: recorder, sinks: event.Sinks{recorder}}
	if r.Progress != nil {
		rec.sinks = append(rec.sinks, r.Progress)
	}
	c := g.count()
	start := event.RunStart{Type: "run.start", Schema: event.Schema, Run: g.call.run, Version: g.call.options.Version, Nodes: c.nodes,
		Time: time.Now(), Jobs: g.call.options.RunJobs(), Selection: r.words(), Shard: r.Shard, Divided: r.Cells != "",
		Partial: r.partial(), AdHoc: g.call.options.Additions.Any()}
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
