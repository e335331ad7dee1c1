package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/view"
)

// evaluation is one execution of a project's graph, from targets to exit code.
type evaluation struct {
	targets []graph.ID
	force   func(*graph.Node) bool
	fast    bool            // stop at the first failure
	policy  *verdict.Policy // of the exit code; nil is each checkpoint's own
	profile string          // file for a trace; "" is none
	trace   *view.Trace     // for it; nil is none
}

// evaluate runs stale nodes, records the run, shows its results, writes the
// exports, and returns an *exitError unless all is judged and passes.
func (p *project) evaluate(ctx context.Context, e evaluation) error {
	mode, err := p.app.progressMode()
	if err != nil {
		return err
	}
	p.showInvalid(e.targets)
	closure := p.plan.Graph.Closure(e.targets)
	recorder, err := event.NewRecorder(p.state, p.run)
	if err != nil {
		return exit(exitNotJudged, err)
	}
	shown := view.New(mode, view.Options{Out: p.app.io.Out, Err: p.app.io.Err, Color: p.app.colorErr(),
		Verbose: p.app.flags.verbose, Quiet: p.app.flags.quiet, LookupEnv: p.app.io.LookupEnv})
	sinks := event.Sinks{recorder, shown}
	trace := view.NewTrace(p.began, nil)
	if e.profile != "" {
		trace.Phase("configuration and graph", p.began)
		e.trace, sinks = trace, append(sinks, trace)
	}
	start := event.RunStart{Type: "run.start", Schema: event.Schema, Run: p.run, Version: Version(), Nodes: len(closure),
		Time: time.Now(), Jobs: p.plan.Pools[graph.CPUPool]}
	sinks.Emit(start)
	executing := time.Now()
	local.SpareProcessor()
	rep, results, err := p.execute(ctx, e, sinks, recorder)
	trace.Phase("decisions and work", executing)
	writing := time.Now()
	code := p.exitCode(ctx, e, rep, results, err)
	end := event.RunEnd{Type: "run.end", Run: p.run, Nodes: len(closure), Executed: rep.Executed, Cached: rep.Cached, Failed: rep.Failed,
		Broken: rep.Broken, Blocked: rep.Blocked, Skipped: rep.Skipped, Interrupted: rep.Interrupted, Seconds: rep.Seconds, Exit: code}
	end.SavedBytes, end.SavedSeconds = rep.Saved()
	var saving errgroup.Group // of what saves only time
	saving.Go(p.index.Save)
	err = errors.Join(err, saveResults(recorder, results), p.export(context.WithoutCancel(ctx), rep, results))
	if err != nil && code < exitNotJudged && code != exitUsage {
		code = exitNotJudged
		end.Exit = code
	}
	sinks.Emit(end)
	trace.Phase("results", writing)
	err = errors.Join(err, recorder.Close(), shown.Close(), writeProfile(e.profile, trace))
	p.showOutcome(e, rep, results, end)
	err = errors.Join(err, saving.Wait())
	if code == exitPassed && err == nil {
		return nil
	}
	if code == exitPassed {
		code = exitNotJudged
	}
	return exit(code, err)
}

// stopAt returns the engine's stop condition: the number of cells that may
// fail, or break, before nothing new starts.
func (p *project) stopAt(ctx context.Context, e evaluation) func(graph.ID, *graph.Status) bool {
	limit := 0
	for _, s := range p.cfg.Suites {
		if s.StopAfter > 0 && (limit == 0 || s.StopAfter < limit) {
			limit = s.StopAfter
		}
	}
	if e.fast {
		limit = 1
	}
	if limit == 0 {
		return nil
	}
	graded := p.plan.Graded()
	failing := map[string]bool{}
	return func(id graph.ID, st *graph.Status) bool {
		n := p.plan.Graph.Node(id)
		ended := st.State == event.Failed || st.State == event.Broken
		switch {
		case ended && n.Label("backend") == "": // no cell's: what it spoils, it spoils as one
			failing[n.Addr] = true
		case ended, graded(id) && p.fails(ctx, e.policy, st):
			failing[verdictKey(n.Label("problem"), n.Label("solution"), n.Label("backend"), n.Label("repeat"))] = true
		}
		return len(failing) >= limit
	}
}

// fails reports whether the graded checkpoint of an aggregate node fails.
func (p *project) fails(ctx context.Context, policy *verdict.Policy, st *graph.Status) bool {
	for _, o := range st.Outputs {
		if o.Name != tasks.ResultOutput {
			continue
		}
		content, err := cache.ReadBlob(ctx, p.store, o.Digest, -1)
		var c verdict.Checkpoint
		if err != nil || json.Unmarshal(content, &c) != nil {
			continue
		}
		if policy != nil {
			return !policy.Holds(c.Class, c.Groups)
		}
		return !c.Passed
	}
	return false
}

// exitCode applies the rules of the exit codes; what kept the run from judging
// outweighs what was judged.
func (p *project) exitCode(ctx context.Context, e evaluation, rep *graph.Report, results *report.Results, err error) int {
	switch {
	case context.Cause(ctx) != nil:
		return exitInterrupted
	case err != nil:
		return exitNotJudged
	case rep.InputErrors > 0:
		return exitUsage
	case rep.Broken > 0, rep.Skipped > 0:
		return exitNotJudged
	}
	return report.Summarize(results, e.policy).Exit
}

// saveResults writes the results into the run's record; nil is none.
func saveResults(recorder *event.Recorder, results *report.Results) error {
	if results == nil {
		return nil
	}
	return recorder.SaveResults(func(w io.Writer) error { return report.Write(w, "json", results, report.Options{}) })
}

// showOutcome prints results and the closing line; in quiet runs only what
// could not be judged, which progress has told otherwise.
func (p *project) showOutcome(e evaluation, rep *graph.Report, results *report.Results, end event.RunEnd) {
	a := p.app
	switch {
	case a.flags.json:
		return
	case a.flags.quiet:
		p.showTroubles(rep)
		return
	}
	p.showResults(e, results)
	if len(p.plan.Cells) == 0 {
		fmt.Fprintln(a.io.Err, "nothing to evaluate: the configuration has no solution on any backend")
	}
	view.RunSummary(a.io.Err, end, p.slowest(rep))
	bound := p.plan.Graph.Bound(rep, p.plan.Pools)
	view.Schedule(a.io.Err, view.ScheduleFacts{Took: rep.Seconds, Chain: bound.Chain, Slots: bound.Slots, Work: bound.Work,
		Idle: bound.Idle(rep.Seconds), Of: bound.Size})
	if end.Exit == exitNotJudged || end.Exit == exitUsage {
		fmt.Fprintln(a.io.Err, "  `fevalgraph log ADDR` shows what a node printed, `fevalgraph explain ADDR` why it ran")
	}
}

func (p *project) showResults(e evaluation, results *report.Results) {
	if results == nil || len(results.Cells) == 0 {
		return
	}
	shown := results
	if e.policy != nil {
		shown = results.Under(*e.policy)
	}
	report.Write(p.app.io.Out, "table", shown, report.Options{Color: p.app.color(), Verbose: p.app.flags.verbose})
	p.showLeaderboards(results)
}

func (p *project) showTroubles(rep *graph.Report) {
	for _, id := range rep.Nodes {
		st := rep.Status(id)
		if st.State == event.Broken || st.State == event.Failed || st.State == event.Skipped {
			fmt.Fprintf(p.app.io.Err, "%s %s: %s\n", p.plan.Graph.Node(id).Addr, st.State, st.Message)
		}
	}
}

// slowest are the longest nodes of a run, with -v only.
func (p *project) slowest(rep *graph.Report) []view.NodeTime {
	if !p.app.flags.verbose {
		return nil
	}
	const shown = 5
	var times []view.NodeTime
	for _, id := range rep.Nodes {
		if st := rep.Status(id); st.State != event.Cached && st.Seconds > 0 {
			times = append(times, view.NodeTime{Addr: p.plan.Graph.Node(id).Addr, Seconds: st.Seconds})
		}
	}
	sortBySeconds(times)
	return times[:min(shown, len(times))]
}

func sortBySeconds(times []view.NodeTime) {
	slices.SortStableFunc(times, func(a, b view.NodeTime) int { return cmp.Compare(b.Seconds, a.Seconds) })
}
