package shards

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Merged contains the runs that a merge combines. Its methods for runs accept nil, for a run that is not a
// merge.
type Merged struct {
	runs     []run
	ended    map[string]event.NodeDone // nodes that a run worked on
	divided  []Shard                   // nil without a division
	reported map[int]bool              // shards that reported, from 1
	of       int                       // number of shards; 0 if unknown
}

// run is the record of a run.
type run struct {
	input  string
	start  event.RunStart
	events []event.Event
	logs   map[string][]byte // logs of broken attempts, by address
}

// NewMerged returns a merge without runs.
func NewMerged() *Merged {
	return &Merged{ended: map[string]event.NodeDone{}, reported: map[int]bool{}}
}

// Divided sets the shards of the runs.
func (m *Merged) Divided(shards []Shard) { m.divided, m.of = shards, len(shards) }

// Len returns the number of runs; 0 for nil.
func (m *Merged) Len() int {
	if m == nil {
		return 0
	}
	return len(m.runs)
}

// Add adds the run of an input: its events, and the logs of its broken attempts in JSON.
func (m *Merged) Add(input string, events, logs []byte) error {
	r := run{input: input}
	if events == nil {
		return fmt.Errorf("%s has no record of a run; create it with `fevalgraph cache pack --run latest`", input)
	}
	for line := range bytes.Lines(events) {
		r.add(event.Decode(line))
	}
	if logs != nil {
		if err := json.Unmarshal(logs, &r.logs); err != nil {
			return fmt.Errorf("%s: its logs cannot be read: %w", input, err)
		}
	}
	return m.add(r)
}

// add applies an event of the run's work. The merge itself determines what was served.
func (r *run) add(e event.Event) {
	switch e := e.(type) {
	case event.RunStart:
		r.start = e
	case nil, event.RunAgain, event.RunEnd, event.NodesSame:
	case event.NodeDone:
		if e.State != event.Cached {
			r.events = append(r.events, e)
		}
	default:
		r.events = append(r.events, e)
	}
}

func (m *Merged) add(r run) error {
	if r.start.Schema != event.Schema {
		return fmt.Errorf("%s: the record of its run has schema %d; this version reads %d", r.input, r.start.Schema, event.Schema)
	}
	if text := r.start.Shard; text != "" && text != Shared {
		index, count, err := Parse(text)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", r.input, err)
		case m.of == 0 && r.start.Divided:
			return fmt.Errorf("%s is a shard of `fevalgraph plan --shards`: pass the file that it printed with --shards", r.input)
		case m.of != 0 && m.of != count:
			return fmt.Errorf("%s is shard %s, but the others are shards of %d", r.input, text, m.of)
		}
		m.of, m.reported[index] = count, true
	}
	for _, e := range r.events {
		if done, ok := e.(event.NodeDone); ok {
			if known, has := m.ended[done.Addr]; !has || known.State == event.Broken {
				m.ended[done.Addr] = done
			}
		}
	}
	m.runs = append(m.runs, r)
	return nil
}

// Ran returns the nodes that shards worked on.
func (m *Merged) Ran() map[string]bool {
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

// Refusal returns a function that returns the error for a stale node, which is not run here; nil without a
// merge.
func (m *Merged) Refusal(cfg *lang.Config) func(*graph.Node) error {
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
			return errors.New("its shard was interrupted")
		case ok && done.State == event.Failed && done.Message != "":
			return &graph.FailedError{Err: errors.New(done.Message)}
		case ok && done.Message != "":
			return errors.New(done.Message)
		case ok && (done.State == event.Done || done.State == event.Failed || done.State == event.Timeout):
			return errors.New("its shard evaluated it with another output of something that shards share, such as a task that is not reproducible (hint: run it once before the shards, with `fevalgraph run --cells FILE --shard shared`)")
		}
		if shard := missing[plan.NodeCell(n).Cell()]; shard > 0 {
			return fmt.Errorf("shard %d did not report", shard)
		}
		return errors.New("none of the shards evaluated it")
	}
}

// missing maps the cells of missing shards to the number of their shard.
func (m *Merged) missing(cfg *lang.Config) map[plan.CellID]int {
	named, missing := map[string]int{}, map[plan.CellID]int{}
	for _, s := range m.divided {
		for _, name := range s.Cells {
			named[name] = s.Shard
		}
	}
	plan.EachCell(cfg, func(c lang.Cell) {
		id := plan.IDOf(c)
		shard := named[id.String()]
		if m.divided == nil && m.of > 0 {
			shard = plan.ShardOf(c, m.of)
		}
		if shard > 0 && !m.reported[shard] {
			missing[id] = shard
		}
	})
	return missing
}

// Replay writes the events of the shards to the record of the merge, in the order of shards.
func (m *Merged) Replay(rec *event.Recorder) {
	runs := slices.Clone(m.runs)
	slices.SortStableFunc(runs, func(a, b run) int {
		i, _, _ := Parse(a.start.Shard)
		j, _, _ := Parse(b.start.Shard)
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

// Sink passes on the events of the merge itself to a recorder.
func (m *Merged) Sink(rec *event.Recorder) event.Sink { return replayedFilter{rec, m.Ran()} }

// replayedFilter drops the merge's own events about nodes that were served because a shard worked on them.
type replayedFilter struct {
	event.Sink
	ran map[string]bool
}

func (t replayedFilter) Emit(e event.Event) {
	if done, ok := e.(event.NodeDone); ok && done.State == event.Cached && t.ran[done.Addr] {
		return
	}
	t.Sink.Emit(e)
}
