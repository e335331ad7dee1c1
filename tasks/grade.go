package tasks

import (
	"context"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// The outputs of tasks that grade.
const (
	// ResultOutput is the stored form of a verdict.Checkpoint.
	ResultOutput = "result"
	// MeasurementsOutput contains the verdict.Measurements of a checkpoint, for
	// tasks that give a score.
	MeasurementsOutput = "measurements"
)

// Grade counts the tests of c by group and lets r decide whether c passes. An
// error is a *graph.InputError, since it is about r.
func Grade(c *verdict.Checkpoint, r verdict.Rule) error {
	if err := verdict.Grade(c, r); err != nil {
		return &graph.InputError{Err: err}
	}
	return nil
}

// PutGraded stores a graded checkpoint and its measurements as the outputs of a
// task that gives a score.
func PutGraded(ctx context.Context, store cache.Store, c *verdict.Checkpoint, m *verdict.Measurements) (graph.Outcome, error) {
	o := graph.Outcome{Message: c.Caveat(), Verdict: announce(c)}
	switch {
	case c.Class == verdict.NotReached:
		o.Verdict.Detail = m.Message
	case c.Class != verdict.Judged && m.Message != "":
		o.Verdict.Detail += ": " + m.Message
	}
	k := session.Keeper{Ctx: ctx, Store: store, Outcome: o}
	k.JSON(ResultOutput, c)
	k.JSON(MeasurementsOutput, m)
	return k.Outcome, k.Err
}

// announce returns the event of a graded checkpoint.
func announce(c *verdict.Checkpoint) *event.Verdict {
	return &event.Verdict{Outcome: string(c.Outcome()), Class: string(c.ShownClass()), Score: c.Score.Bounded, Detail: c.Figures()}
}
