package verdict

import "fmt"

// Rule decides whether a graded checkpoint passes.
type Rule interface {
	// Text identifies the rule in keys and to users.
	Text() string
	// Passes reports whether a checkpoint with counted tests passes. It returns an error if the rule cannot
	// be applied.
	Passes(c *Checkpoint) (bool, error)
}

// Grade counts the tests of c by group and lets r decide whether c passes. It returns errors of r.
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
	// A rule that is not a named policy is never vacuous.
	c.Passed, c.Vacuous = passed, Policy(c.Policy).Vacuous(c.Class, c.Groups)
	return nil
}

// Caveat returns a restriction on c's pass, or "":
//
//	passes core-cases with no core tests
func (c *Checkpoint) Caveat() string {
	if !c.Passed || !c.Vacuous || c.Class != Judged {
		return ""
	}
	return Policy(c.Policy).Caveat(c.Groups)
}
