package judge

import (
	"context"
	"fmt"
	"strconv"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Score is the task that computes the score of a solution. It depends on the
// Compile, "solution", and for each case on "verdict <name>" and "measure
// <name>". Its outputs are those of tasks.PutGraded.
type Score struct {
	Subtasks []Subtask
	Weights  bool // subtasks count by their Score; otherwise every case counts the same
	Policy   verdict.Rule
}

// Subtask is a group of cases, at least one.
type Subtask struct {
	Score float64
	Cases []CaseName
}

// CaseName is the name of a case in results.
type CaseName struct {
	Name string
	File string // its input, relative to the problem
}

// Describe implements graph.Task.
func (s *Score) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 2) // 2: the message names the first case that earns nothing as its checker failed, also of a dialect;
	// the stored form omits empty fields
	for i, sub := range s.Subtasks {
		if s.Weights {
			m.String(fmt.Sprintf("score of subtask %d", i+1), strconv.FormatFloat(sub.Score, 'g', -1, 64))
			m.Int(fmt.Sprintf("cases of subtask %d", i+1), int64(len(sub.Cases)))
		}
		for _, c := range sub.Cases {
			m.String("case "+c.Name, c.File)
		}
	}
	m.String("pass", s.Policy.Text())
	return nil
}

// Run implements graph.Task.
func (s *Score) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	c := verdict.Checkpoint{Class: verdict.Judged, Tests: []verdict.Test{}}
	m := verdict.Measurements{Tests: []verdict.TestMeasurement{}}
	var d Diagnosis
	if err := session.ReadInputJSON(ctx, w, FromSolution, OutputDiagnosis, &d); err != nil {
		return graph.Outcome{}, err
	}
	if !d.OK {
		c.Class, m.Message = verdict.CompileError, d.Text
	} else if err := s.cases(ctx, w, &c, &m); err != nil {
		return graph.Outcome{}, err
	}
	if err := tasks.Grade(&c, s.Policy); err != nil {
		return graph.Outcome{}, err
	}
	return tasks.PutGraded(ctx, w.Store, &c, &m)
}

// Refused implements graph.Refuser.
func (s *Score) Refused(ctx context.Context, w *graph.Work, why string) (graph.Outcome, error) {
	return tasks.PutRefused(ctx, w.Store, "", s.Policy, why)
}

// cases reads the verdicts and adds them up.
func (s *Score) cases(ctx context.Context, w *graph.Work, c *verdict.Checkpoint, m *verdict.Measurements) error {
	var bounded, unbounded []group
	for _, sub := range s.Subtasks {
		b, u := group{weight: sub.Score}, group{weight: sub.Score}
		for _, name := range sub.Cases {
			var v Verdict
			if err := session.ReadInputJSON(ctx, w, "verdict "+name.Name, OutputVerdict, &v); err != nil {
				return err
			}
			var measure Measure
			if err := session.ReadInputJSON(ctx, w, "measure "+name.Name, OutputMeasure, &measure); err != nil {
				return err
			}
			c.Tests = append(c.Tests, Test(name, v))
			m.Tests = append(m.Tests, verdict.TestMeasurement{
				DurationMS: measure.ClockMS, Message: v.Message, CPUMS: &measure.CPUMS, MemoryBytes: &measure.MemoryBytes,
			})
			m.DurationMS += measure.ClockMS
			if m.Message == "" && v.Verdict == CheckerFailed && v.Ratio != nil && *v.Ratio == 0 {
				m.Message = fmt.Sprintf("case %s earns nothing: %s", name.Name, v.Message)
			}
			b.add(v.Ratio)
			u.add(v.RatioUnbounded)
		}
		bounded, unbounded = append(bounded, b), append(unbounded, u)
	}
	total := plain
	if s.Weights {
		total = weighted
	}
	c.Collected = len(c.Tests)
	c.Score = verdict.Score{Bounded: number(total(bounded)), Unbounded: number(total(unbounded))}
	if c.Score.Bounded == nil || c.Score.Unbounded == nil {
		m.Message = "the score is not a number"
	}
	return nil
}

// Test returns a case with its verdict in the form of results.
func Test(name CaseName, v Verdict) verdict.Test {
	t := verdict.Test{ID: name.Name, File: name.File, Group: verdict.Core, Status: verdict.TestFailed,
		Verdict: v.Verdict, Ratio: v.Ratio, RatioUnbounded: v.RatioUnbounded}
	switch {
	case v.Verdict == CheckerFailed && v.Ratio == nil:
		t.Status = verdict.TestError
	case v.Ratio != nil && *v.Ratio == 1:
		t.Status = verdict.TestPassed
	}
	return t
}
