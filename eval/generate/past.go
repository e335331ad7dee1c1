package generate

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/maruel/natural"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/gen"
	"github.com/fevalgraph/fevalgraph/graph"
)

// Past is a recorded call.
type Past struct {
	Start     event.RunStart
	End       event.RunEnd
	Ended     bool // otherwise it is running, or was killed
	Decisions []Decision
	// Later is the id of the last call if that is running or was killed, and this call is the last ended
	// one.
	Later string
}

// Decision records the action of a call for one request, or for files that it kept. A request that was
// queued or running when the call was killed has the state Queued or Running.
type Decision struct {
	Name   string
	Node   event.NodeDone   // for the answer, or for existing files
	Prompt event.NodeDone   // zero for existing files
	Made   *event.Generated // result of writing the files; nil if the call ended before
}

// States of requests without an answer.
const (
	Queued  event.State = "queued"
	Running event.State = "running"
)

var errNoCalls = errors.New("no call of gen has been recorded yet")

// ReadPast reads the record of a call, given by its id, a part of it, "latest" or "latest~1". Selectors select
// decisions as in a Request. The model of a request is not recorded; for a call that wrote no files, selectors
// can only use names.
func ReadPast(o options.Options, id string, selectors []string) (*Past, error) {
	selector, err := graph.ParseSelector(selectors, []string{"generator", "problem", "checkpoint", "attempt"})
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	state := o.RecordsIn(options.AnswersDir(o.StateDir()), false)
	ids, err := event.Runs(state)
	switch {
	case err != nil:
		return nil, exit.With(exit.NotJudged, err)
	case len(ids) == 0:
		return nil, exit.With(exit.Usage, errNoCalls)
	}
	run, err := event.FindRun(state, id)
	if err != nil {
		return nil, exit.Past(err)
	}
	p, steps := &Past{}, map[string]*Decision{}
	if err := run.Each(func(e event.Event) bool { p.apply(e, steps); return true }); err != nil {
		return nil, exit.Past(err)
	}
	last := event.OpenRun(state, ids[len(ids)-1])
	if _, ended, err := last.End(); err == nil && !ended && last.ID != run.ID {
		p.Later = last.ID
	}
	for name, d := range steps {
		if d.Node.Addr != "" && (selector.Empty() || selector.Match(name, d.values)) {
			p.Decisions = append(p.Decisions, *d)
		}
	}
	slices.SortFunc(p.Decisions, func(a, b Decision) int { return natural.Compare(a.Name, b.Name) })
	if len(p.Decisions) == 0 && !selector.Empty() {
		return nil, exit.Unmatched("%s selects nothing of the call %s; --explain=ID shows another call", strings.Join(selectors, " "), run.ID)
	}
	return p, nil
}

// apply applies an event; a step has several.
func (p *Past) apply(e event.Event, steps map[string]*Decision) {
	step := func(name string) *Decision {
		if steps[name] == nil {
			steps[name] = &Decision{Name: name}
		}
		return steps[name]
	}
	switch e := e.(type) {
	case event.RunStart:
		p.Start = e
	case event.RunEnd:
		p.End, p.Ended = e, true
	case event.NodeQueued:
		if _, name, _ := strings.Cut(e.Addr, ":"); e.Kind == gen.KindAnswer {
			step(name).Node = event.NodeDone{Addr: e.Addr, Kind: e.Kind, State: Queued, Key: e.Key, Cause: e.Cause, Category: e.Category, Changes: e.Changes, Omitted: e.Omitted}
		}
	case event.NodeStart:
		if _, name, _ := strings.Cut(e.Addr, ":"); e.Kind == gen.KindAnswer {
			step(name).Node.State = Running
		}
	case event.NodeDone:
		_, name, _ := strings.Cut(e.Addr, ":")
		switch e.Kind {
		case gen.KindPrompt:
			step(name).Prompt = e
		case gen.KindAnswer, gen.KindSources:
			step(name).Node = e
		}
	case event.Generated:
		step(gen.NameOf(e.Problem, e.Checkpoint, e.Generator, e.Attempt)).Made = &e
	}
}

func (d *Decision) values(axis string) []string {
	if d.Made == nil {
		return nil
	}
	return []string{map[string]string{"generator": d.Made.Generator, "problem": d.Made.Problem, "checkpoint": d.Made.Checkpoint, "attempt": strconv.Itoa(d.Made.Attempt)}[axis]}
}
