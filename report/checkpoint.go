package report

import "github.com/fevalgraph/fevalgraph/verdict"

// NewCheckpoint combines a verdict with its measurements. The result shares the verdict's counts.
func NewCheckpoint(v *verdict.Checkpoint, m *verdict.Measurements) Checkpoint {
	c := Checkpoint{
		Name: v.Name, Passed: v.Passed, Policy: v.Policy, Vacuous: v.Vacuous, Class: v.Class, Message: present(m.Message),
		Score: v.Score.Bounded, ScoreUnbounded: v.Score.Unbounded, ScoreText: v.Score.BoundedText, ScoreUnboundedText: v.Score.UnboundedText,
		ExitCode: v.ExitCode, Collected: v.Collected, InfrastructureFailure: v.InfrastructureFailure, DurationMS: m.DurationMS, Isolation: m.Isolation, Import: m.Import,
		Groups: v.Groups, Tests: make([]Test, len(v.Tests)),
	}
	for i, t := range v.Tests {
		c.Tests[i].Test = t
		// Verdicts and measurements are of the same execution unless equal verdicts were reused; then the newer
		// measurements fit, too.
		if i < len(m.Tests) {
			of, to := &m.Tests[i], &c.Tests[i]
			to.DurationMS, to.Message, to.CPUMS, to.MemoryBytes = of.DurationMS, present(of.Message), of.CPUMS, of.MemoryBytes
		}
	}
	return c
}

// Verdict returns the verdict of c, without its tests.
func (c *Checkpoint) Verdict() *verdict.Checkpoint {
	return &verdict.Checkpoint{
		Name: c.Name, Passed: c.Passed, Policy: c.Policy, Vacuous: c.Vacuous, Class: c.Class, Score: c.score(),
		ExitCode: c.ExitCode, Collected: c.Collected, InfrastructureFailure: c.InfrastructureFailure, Groups: c.Groups,
	}
}

// ShownClass does the same as that of verdict.Checkpoint.
func (c *Checkpoint) ShownClass() verdict.Class {
	return c.Verdict().ShownClassOf(func(yield func(verdict.Test) bool) {
		for i := range c.Tests {
			if !yield(c.Tests[i].Test) {
				return
			}
		}
	})
}

func (c *Checkpoint) score() verdict.Score {
	return verdict.Score{Bounded: c.Score, Unbounded: c.ScoreUnbounded, BoundedText: c.ScoreText, UnboundedText: c.ScoreUnboundedText}
}

// Ruled reports whether c has a pass rule.
func (c *Checkpoint) Ruled() bool { return c.Policy != string(verdict.NoRule) }

// Caveat returns a note on a passed checkpoint; see verdict.Checkpoint.
func (c *Checkpoint) Caveat() string { return c.Verdict().Caveat() }

// Sample returns the values of the cell that statistics over many cells need.
func (c *Cell) Sample() verdict.Sample {
	s := verdict.Sample{
		Problem: c.Problem, Backend: c.Backend, Status: c.Status,
		Score:       verdict.Score{Bounded: c.Score, Unbounded: c.ScoreUnbounded},
		Checkpoints: make([]verdict.CheckpointSummary, len(c.Checkpoints)),
	}
	if m := c.Metric; m != nil {
		s.NoBounded, s.NoUnbounded, s.Lower = !m.Bounded, m.Bounded, m.LowerBest
	}
	for i := range c.Checkpoints {
		of := &c.Checkpoints[i]
		s.Checkpoints[i] = verdict.CheckpointSummary{Name: of.Name, Class: of.Class, Passed: of.Passed, Groups: of.Groups, Unruled: !of.Ruled()}
		if of.Name == "" {
			s.Score.BoundedText, s.Score.UnboundedText = of.ScoreText, of.ScoreUnboundedText
		}
	}
	return s
}

// Samples returns the samples of cells.
func Samples(cells []Cell) []verdict.Sample {
	samples := make([]verdict.Sample, len(cells))
	for i := range cells {
		samples[i] = cells[i].Sample()
	}
	return samples
}

func present(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
