package generate

import (
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/gen"
	"github.com/fevalgraph/fevalgraph/graph"

	"github.com/fevalgraph/fevalgraph/eval/exit"
)

// Planned is a request that a call would send, or that it cannot send.
type Planned struct {
	Step  *gen.Step
	Cause string    // why it would be sent
	After string    // kind of an earlier request that the prompt depends on; "" if it depends on none
	Wrong string    // why it cannot be sent; otherwise ""
	About gen.Usage // expected usage
	Whole bool      // whether the prompt is known; otherwise it is longer than About
}

// plan returns the outcome of a dry run.
func (c *call) plan(rep *graph.Report) *Outcome {
	out := &Outcome{Root: c.cfg.Root, Priced: true}
	for _, s := range c.batch.Steps {
		if s.Answer < 0 {
			continue
		}
		st := rep.Status(s.Answer)
		p := Planned{Step: s, Cause: st.Cause, After: st.Follows}
		if st.New && !c.r.Again {
			p.Cause, p.After = "never requested", ""
		}
		switch {
		case st.State == event.Cached:
			out.Known++
			continue
		case st.Stale:
			p.About, p.Whole = s.Estimate(rep)
			out.Priced = out.Priced && s.Generator.Price != nil
			out.Asked.Add(p.About)
		case rep.Status(s.Prompt).Message != "":
			p.Wrong = rep.Status(s.Prompt).Message
			out.Exit = exit.Usage
		default: // not selected, or it depends on a request that cannot be sent
			continue
		}
		out.Planned = append(out.Planned, p)
	}
	return out
}
