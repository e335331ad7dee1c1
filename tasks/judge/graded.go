package judge

import (
	"context"
	"fmt"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// FromServer is the dependency of Graded.
const FromServer = "server" // outputs of Submit

// Graded is the task that gives a solution the score of a judge server. Servers do not know weights; with
// Weights, the score is computed from their results for cases. It depends on the Submit, FromServer. Its
// outputs are those of tasks.PutGraded.
type Graded struct{ Score }

// Describe implements graph.Task.
func (g *Graded) Describe(ctx context.Context, m *graph.Manifest) error {
	m.Int("recipe of graded", 1)
	return g.Score.Describe(ctx, m)
}

// Run implements graph.Task.
func (g *Graded) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	var said Grade
	if err := session.ReadInputJSON(ctx, w, FromServer, OutputGrade, &said); err != nil {
		return graph.Outcome{}, err
	}
	var measures []Measure
	if err := session.ReadInputJSON(ctx, w, FromServer, OutputMeasure, &measures); err != nil {
		return graph.Outcome{}, err
	}
	c := verdict.Checkpoint{Class: verdict.Judged, Tests: []verdict.Test{}}
	m := verdict.Measurements{Tests: []verdict.TestMeasurement{}}
	if said.Rejected != "" {
		c.Class, m.Message = verdict.CompileError, said.Rejected
	} else if err := g.cases(&said, measures, &c, &m); err != nil {
		return graph.Outcome{}, err
	}
	if err := tasks.Grade(&c, g.Policy); err != nil {
		return graph.Outcome{}, err
	}
	return tasks.PutGraded(ctx, w.Store, &c, &m)
}

// cases converts the results of cases, in order.
func (g *Graded) cases(said *Grade, measures []Measure, c *verdict.Checkpoint, m *verdict.Measurements) error {
	var bounded, unbounded []group
	for _, sub := range g.Subtasks {
		b, u := group{weight: sub.Score}, group{weight: sub.Score}
		for _, name := range sub.Cases {
			i := len(c.Tests)
			if i >= len(said.Cases) || i >= len(measures) {
				return fmt.Errorf("the server has no result for case %s", name.Name)
			}
			v, measure := said.Cases[i], measures[i]
			c.Tests = append(c.Tests, Test(name, v))
			m.Tests = append(m.Tests, verdict.TestMeasurement{DurationMS: measure.ClockMS, Message: v.Message, MemoryBytes: &measure.MemoryBytes})
			m.DurationMS += measure.ClockMS
			b.add(v.Ratio)
			u.add(v.RatioUnbounded)
		}
		bounded, unbounded = append(bounded, b), append(unbounded, u)
	}
	c.Collected, c.Score = len(c.Tests), verdict.Score{Bounded: said.Score, Unbounded: said.ScoreUnbounded}
	if g.Weights {
		c.Score = verdict.Score{Bounded: number(weighted(bounded)), Unbounded: number(weighted(unbounded))}
	}
	if c.Score.Bounded == nil || c.Score.Unbounded == nil {
		m.Message = "the score is not a number"
	}
	return nil
}
