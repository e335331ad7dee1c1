package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// MergeRequest says which runs become one.
type MergeRequest struct {
	// Inputs are packs with the record of a run, and directories of projects, whose latest
	// runs are meant. What directories' runs made has to be in the store.
	Inputs   []string
	Division string // file with the Division that the runs have shards of, which says what is asked for; "" if they have none
	Adopt    bool   // records of packs count whoever signed them
	Policy   *verdict.Policy
	Progress event.Sink // may be nil
}

// Merge makes one run of those that evaluated shards. It runs nothing but sums: what no
// shard evaluated is broken, and so is every cell of a shard that did not report.
func Merge(ctx context.Context, o Options, m MergeRequest) (*Outcome, error) {
	parts, err := o.gather(ctx, m)
	if err != nil {
		return nil, err
	}
	r := Request{Policy: m.Policy, Progress: m.Progress, merged: parts}
	if parts.division != nil {
		r.Selection = parts.division.Asked
	}
	return Run(ctx, o, r)
}

// merged are the runs that a merge makes one of.
type merged struct {
	runs     []shardRun
	ended    map[string]event.NodeDone // the nodes that a run worked on
	division *Division                 // nil is none
	reported map[int]bool              // shards, from 1
	of       int                       // shards; 0 when there is no telling
}

// shardRun is the record of a run.
type shardRun struct {
	input  string
	start  event.RunStart
	events []event.Event
	logs   map[string][]byte // of broken attempts, by address
}

func (o *Options) gather(ctx context.Context, m MergeRequest) (*merged, error) {
	parts := &merged{ended: map[string]event.NodeDone{}, reported: map[int]bool{}}
	if m.Division != "" {
		content, err := os.ReadFile(o.Path(m.Division))
		if err == nil {
			parts.division, err = parseDivision(content)
		}
		if err != nil {
			return nil, fail(Usage, fmt.Errorf("--shards %s: %w", m.Division, err))
		}
		parts.of = len(parts.division.Shards)
	}
	var packs []string
	for _, input := range m.Inputs {
		if !isDirectory(o.Path(input)) {
			packs = append(packs, input)
		}
	}
	u, err := o.unpack(ctx, packs, m.Adopt)
	if err != nil {
		return nil, err
	}
	if err := o.learn(u.seconds); err != nil {
		return nil, err
	}
	if u.total.Foreign > 0 {
		o.notify(ForeignRecords{u.total.Foreign})
	}
	for _, input := range m.Inputs {
		var extra map[string][]byte
		if dir := o.Path(input); isDirectory(dir) {
			if extra, err = latestIn(dir); err != nil {
				return nil, fail(Usage, err)
			}
		} else {
			extra, u.extra = u.extra[0], u.extra[1:]
		}
		run, err := newShardRun(input, extra)
		if err == nil {
			err = parts.add(run)
		}
		if err != nil {
			return nil, fail(Usage, err)
		}
	}
	return parts, nil
}

// newShardRun is the run whose record is in the files of a pack.
func newShardRun(input string, extra map[string][]byte) (shardRun, error) {
	run := shardRun{input: input}
	events, ok := extra[packEvents]
	if !ok {
		return run, fmt.Errorf("%s has no record of a run; make it with `fevalgraph cache pack --run latest`", input)
	}
	for line := range bytes.Lines(events) {
		run.add(event.Decode(line))
	}
	if logs := extra[packLogs]; logs != nil {
		if err := json.Unmarshal(logs, &run.logs); err != nil {
			return run, fmt.Errorf("%s: its logs cannot be read: %w", input, err)
		}
	}
	return run, nil
}

// latestIn is the record of the latest run of a project in a directory.
func latestIn(dir string) (map[string][]byte, error) {
	state := dir
	if isDirectory(filepath.Join(dir, stateName)) {
		state = filepath.Join(dir, stateName)
	}
	extra, err := mergeable(state, "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return extra, nil
}

// isDirectory reports whether an input is the directory of a project.
func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// add keeps an event of what the run did. What it was served the merge finds itself.
func (r *shardRun) add(e event.Event) {
	switch e := e.(type) {
	case event.RunStart:
		r.start = e
	case nil, event.RunEnd, event.NodesSame:
	case event.NodeDone:
		if e.State != event.Cached {
			r.events = append(r.events, e)
		}
	default:
		r.events = append(r.events, e)
	}
}

func (m *merged) add(run shardRun) error {
	if run.start.Schema != event.Schema {
		return fmt.Errorf("%s: the record of its run has schema %d, and this version reads %d", run.input, run.start.Schema, event.Schema)
	}
	if text := run.start.Shard; text != "" {
		index, count, err := parseShard(text)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", run.input, err)
		case m.of == 0 && run.start.Divided:
			return fmt.Errorf("%s is a part of what `fevalgraph plan --shards` divided: name the file that it printed with --shards", run.input)
		case m.of != 0 && m.of != count:
			return fmt.Errorf("%s is shard %s, and the others are of %d", run.input, text, m.of)
		}
		m.of, m.reported[index] = count, true
	}
	for _, e := range run.events {
		if done, ok := e.(event.NodeDone); ok {
			if known, has := m.ended[done.Addr]; !has || known.State == event.Broken {
				m.ended[done.Addr] = done
			}
		}
	}
	m.runs = append(m.runs, run)
	return nil
}

// ran are the nodes that shards worked on.
func (m *merged) ran() map[string]bool {
	ran := map[string]bool{}
	if m == nil {
		return ran
	}
	for addr, done := range m.ended {
		switch done.State {
		case event.Done, event.Failed, event.Timeout:
			ran[addr] = true
		}
	}
	return ran
}

// refusal returns what says why a stale node is not run here; nil without a merge.
func (m *merged) refusal(cfg *lang.Config) func(*graph.Node) error {
	if m == nil {
		return nil
	}
	missing := m.missing(cfg)
	return func(n *graph.Node) error {
		if plan.InProcess(n) {
			return nil
		}
		switch done, ok := m.ended[n.Addr]; {
		case ok && done.State == event.Skipped:
			return &graph.AbsentError{Err: errors.New(done.Message)}
		case ok && done.State == event.Interrupted:
			return errors.New("the shard that had it was interrupted")
		case ok && done.Message != "":
			return errors.New(done.Message)
		}
		if shard := missing[plan.NodeCell(n).Cell()]; shard > 0 {
			return fmt.Errorf("shard %d did not report", shard)
		}
		return errors.New("no shard that reported evaluated it")
	}
}

// missing maps the cells of shards that did not report to these.
func (m *merged) missing(cfg *lang.Config) map[plan.CellID]int {
	named, missing := map[string]int{}, map[plan.CellID]int{}
	if m.division != nil {
		for _, s := range m.division.Shards {
			for _, name := range s.Cells {
				named[name] = s.Shard
			}
		}
	}
	plan.EachCell(cfg, func(c lang.Cell) {
		id := plan.IDOf(c)
		shard := named[id.String()]
		if m.division == nil && m.of > 0 {
			shard = plan.ShardOf(c, m.of)
		}
		if shard > 0 && !m.reported[shard] {
			missing[id] = shard
		}
	})
	return missing
}

// replay writes what the shards did into the record of the merge, in the order of the
// shards.
func (m *merged) replay(rec *event.Recorder) {
	runs := slices.Clone(m.runs)
	slices.SortStableFunc(runs, func(a, b shardRun) int {
		i, _, _ := parseShard(a.start.Shard)
		j, _, _ := parseShard(b.start.Shard)
		return i - j
	})
	for _, run := range runs {
		for _, e := range run.events {
			rec.Emit(e)
		}
		for addr, log := range run.logs {
			rec.SaveLog(addr, 0, log)
		}
	}
}

// told leaves out of the merge's own events that a node was served which a shard worked on.
type told struct {
	event.Sink
	ran map[string]bool
}

func (t told) Emit(e event.Event) {
	if done, ok := e.(event.NodeDone); ok && done.State == event.Cached && t.ran[done.Addr] {
		return
	}
	t.Sink.Emit(e)
}
