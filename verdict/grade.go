package verdict

import "fmt"

// Rule decides whether a graded checkpoint passes.
type Rule interface {
	// Text identifies the rule in keys and to people.
	Text() string
	// Passes looks at a checkpoint whose tests are counted. An error says that
	// the rule cannot be applied.
	Passes(c *Checkpoint) (bool, error)
}

// Grade counts the tests of c by group and lets r decide whether c passes. An
// error is r's.
func Grade(c *Checkpoint, r Rule) error {
	c.Policy, c.Groups = r.Text(), NoTestCounts()
	if c.Tests == nil {
		c.Tests = []Test{} // equal checkpoints have equal bytes
	}
	for i := range c.Tests {
		c.Groups.Add(c.Tests[i].Group, c.Tests[i].Status)
	}
	passed, err := r.Passes(c)
	if err != nil {
		whose := c.Name
		if whose == "" {
			whose = "a score"
		}
		return fmt.Errorf("deciding whether %s passes: %w", whose, err)
	}
	// A rule that is no named policy is never vacuous.
	c.Passed, c.Vacuous = passed, Policy(c.Policy).Vacuous(c.Class, c.Groups)
	return nil
}

// Caveat is what to know about c beside that it passed, or empty:
//
//	passes core-cases with no core tests
func (c *Checkpoint) Caveat() string {
	if !c.Passed || !c.Vacuous || c.Class != Judged {
		return ""
	}
	return Policy(c.Policy).Caveat(c.Groups)
}
