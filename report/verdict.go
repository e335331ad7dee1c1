package report

// verdict is what a rendering says about a checkpoint in one word.
type verdict string

const (
	verdictPassed  verdict = "passed"
	verdictFailed  verdict = "failed"
	verdictErrored verdict = "errored" // the submission kept it from being judged
	verdictBroken  verdict = "broken"  // infrastructure did
	verdictSkipped verdict = "skipped"
)

// verdictOf reads the stored verdict; Passed counts only when there was one.
func verdictOf(c *Checkpoint) verdict {
	switch c.Class.Status() {
	case Success:
		if c.Passed {
			return verdictPassed
		}
		return verdictFailed
	case Skipped:
		return verdictSkipped
	case Error, TimedOut:
		return verdictErrored
	}
	return verdictBroken
}

// rank orders verdicts by how much they ask for attention.
func (v verdict) rank() int {
	switch v {
	case verdictPassed:
		return 0
	case verdictSkipped:
		return 1
	case verdictFailed:
		return 2
	case verdictErrored:
		return 3
	}
	return 4
}

// remark is a case that stands for a checkpoint as a whole in formats that
// know only tests, so that reading the tests alone never gives a better
// verdict than the checkpoint has.
type remark struct {
	verdict verdict
	kind    string // class of the checkpoint, or "policy"
	message string
}

// remarkOn returns what c's tests do not say, or nil when they say it all: a
// checkpoint that was not judged, or one that failed without a failing test.
func remarkOn(c *Checkpoint) *remark {
	v := verdictOf(c)
	switch v {
	case verdictPassed:
		return nil
	case verdictFailed:
		for _, t := range c.Tests {
			if t.Status == TestFailed || t.Status == TestError {
				return nil
			}
		}
		return &remark{v, "policy", messageOr(c.Message, unmet(c))}
	}
	return &remark{v, string(c.Class), messageOr(c.Message, string(c.Class))}
}

// unmet says that the policy was not met, and when it had no test to look at
// that this is why.
func unmet(c *Checkpoint) string {
	out := "pass rule not met: " + c.Policy
	if n, which := Policy(c.Policy).scope(c.Groups); n.Total == 0 {
		out += ", there are no " + which
	}
	return out
}

func messageOr(message *string, otherwise string) string {
	if message == nil || *message == "" {
		return otherwise
	}
	return *message
}
