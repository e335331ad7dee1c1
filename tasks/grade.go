package tasks

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
)

// The outputs of tasks that grade.
const (
	// ResultOutput is a report.Checkpoint without measurements, or what
	// AggregateCell and AggregateSuite say.
	ResultOutput = "result"
	// MeasurementsOutput is the report.Measurements that belong to it, of tasks
	// that give a score.
	MeasurementsOutput = "measurements"
)

// Policy decides whether a graded checkpoint passes.
type Policy interface {
	// Text identifies the rule in keys and to people.
	Text() string
	Passes(c *report.Checkpoint) (bool, error)
}

// Grade counts the tests of c by group and lets p decide whether c passes. An
// error is a *graph.InputError: p is at fault.
func Grade(c *report.Checkpoint, p Policy) error {
	c.Policy, c.Groups = p.Text(), report.GroupCounts{}
	for _, g := range report.Groups {
		c.Groups[g] = report.Count{}
	}
	for _, t := range c.Tests {
		count := c.Groups[t.Group]
		count.Total++
		if t.Status == report.TestPassed {
			count.Passed++
		}
		c.Groups[t.Group] = count
	}
	passed, err := p.Passes(c)
	if err != nil {
		whose := c.Name
		if whose == "" {
			whose = "a score"
		}
		return &graph.InputError{Err: fmt.Errorf("deciding whether %s passes: %w", whose, err)}
	}
	// A condition is no named policy and so never vacuous.
	c.Passed, c.Vacuous = passed, report.Policy(c.Policy).Vacuous(c)
	return nil
}

// PutGraded stores a graded checkpoint and its measurements as the outputs of a
// task that gives a score.
func PutGraded(ctx context.Context, store cache.Store, c *report.Checkpoint, m *report.Measurements) (graph.Outcome, error) {
	o := graph.Outcome{Message: c.Caveat()}
	for _, out := range []struct {
		name  string
		value any
	}{{ResultOutput, c}, {MeasurementsOutput, m}} {
		d, err := putJSON(ctx, store, out.name, out.value)
		if err != nil {
			return graph.Outcome{}, err
		}
		o.Outputs = append(o.Outputs, cache.Output{Name: out.name, Digest: d})
	}
	return o, nil
}

func putJSON(ctx context.Context, store cache.Store, name string, value any) (cache.Digest, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return cache.Digest{}, fmt.Errorf("encoding the %s: %w", name, err)
	}
	d, err := cache.PutBytes(ctx, store, encoded)
	if err != nil {
		return cache.Digest{}, fmt.Errorf("storing the %s: %w", name, err)
	}
	return d, nil
}
